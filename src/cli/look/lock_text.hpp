#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "holdfast/status.hpp"
#include "holdfast/token.hpp"

namespace holdfast::cli {

/// What people and scripts see of a lock, in words; all subcommands and the JSON agree through this.

/// `exclusive`, `shared`, `permits`, `election`; of a lock that nobody holds and nobody wants: `free`.
std::string_view mode_of(const LockStatus& lock);
/// The same of one claim on a thing of this kind.
std::string_view mode_of(LockKind kind, const ClaimStatus& claim);
/// How many permits of a semaphore are taken.
std::uint64_t permits_taken(const LockStatus& lock);
/// The same, of how many: `2/5`.
std::string permits_of(const LockStatus& lock);
/// The smallest token that the holder can have: the store does not know the turns inside one client. 0 if nobody holds.
Token token_of(const LockStatus& lock);
/// The same of one holder; 0 of a waiter.
Token token_of(const ClaimStatus& claim);
/// `768`, or `-` where there is none.
std::string token_text(Token token);
/// Whether it says who it is: holders that use another library on a shared kind of lock do not.
bool is_known(const ClientIdentity& client);
/// `host:pid` and what it is called: its label, else its command. Printable.
std::string client_of(const ClaimStatus& claim);
/// `3m 10s`.
std::string age(std::chrono::system_clock::time_point time, std::chrono::system_clock::time_point now);
/// `3m 10s ago`.
std::string ago(std::chrono::system_clock::time_point time,
                std::chrono::system_clock::time_point now = std::chrono::system_clock::now());

}  // namespace holdfast::cli
