#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/memory/event.hpp"
#include "holdfast/name.hpp"
#include "spi/registers.hpp"
#include "spi/result.hpp"

namespace holdfast::memory {

/// The registers of a memory store, and who watches them. Registers are never removed. Not thread-safe.
class RegisterTable {
 public:
  static constexpr std::size_t max_value_bytes = 1 << 20;

  /// Appends to `events` what watchers should be told. REQUIRES: `events` outlives the table.
  explicit RegisterTable(std::vector<Event>& events) : events_(events) {}

  spi::Versioned read(const LockName& name) const;
  /// Errc::invalid_argument if the value is too large.
  spi::Result<spi::Registers::WriteAnswer> write_if(const LockName& name, std::uint64_t expected, std::string value);
  /// Errc::invalid_argument if the value is not a number or the sum does not fit.
  spi::Result<std::int64_t> add(const LockName& name, std::int64_t amount);

  /// True if the version is not `seen` any more. Else the client will have one Event::changed, once, upon the next
  /// change, however often it watches.
  bool watch(ClientNumber client, const LockName& name, std::uint64_t seen);
  void unwatch(ClientNumber client, const LockName& name);
  /// Ends all watches of a client. Goes through all registers.
  void forget(ClientNumber client);

 private:
  struct Register {
    spi::Versioned now = {};
    std::vector<ClientNumber> watchers = {};
  };
  struct Hash {
    std::size_t operator()(const LockName& name) const { return std::hash<std::string>()(name.text()); }
  };

  void write(const LockName& name, Register& entry, std::string value);

  std::vector<Event>& events_;
  std::unordered_map<LockName, Register, Hash> registers_;
};

}  // namespace holdfast::memory
