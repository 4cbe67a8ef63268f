#pragma once

#include <filesystem>

#include "crash/boots.hpp"
#include "crash/promises.hpp"
#include "crash/store_client.hpp"

namespace holdfast::crash {

inline constexpr const char* lock_names[] = {"a", "b", "c"};
inline constexpr const char* counter_name = "n";
inline constexpr const char* register_names[] = {"x", "y", counter_name};

/// Writes a register whose value is known, and everything about it into the ledger. With values of all sizes, or,
/// except for the counter, of at least `size` bytes.
void write_register(StoreClient& client, Ledger& ledger, const std::string& name, const spi::Versioned& found,
                    std::size_t size = 0);

/// One client takes and releases a lock. If `second` is not null, it waits for the lock meanwhile, and gets it.
void take_turns(StoreClient& first, StoreClient* second, const char* name, Ledger& ledger);

/// Two clients of a store in `database`, from opening or making it to closing it: locks are taken, renewed, handed over
/// and released, registers written, numbers reserved, the log checkpointed.
void work(const std::filesystem::path& database, const Boots& boots, Ledger& ledger, int rounds);

}  // namespace holdfast::crash
