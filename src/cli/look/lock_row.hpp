#pragma once

#include <array>
#include <chrono>
#include <string>

#include "holdfast/status.hpp"

namespace holdfast::cli {

/// One lock in one line of a table, as `ls` and `top` show it. Printable; `-` where there is nothing to say.
struct LockRow {
  std::string name = {};
  std::string mode = {};    ///< of a semaphore also how many permits are taken: `permits 2/5`
  std::string holder = {};  ///< the first, and how many more
  std::string age = {};     ///< how long the first has held it; nobody knows this of an unknown one
  std::string ttl = {};     ///< what is left of the first one's lease
  std::string token = {};
  std::string waiters = {};
  std::string reason = {};  ///< the first one's

  /// `3m 10s ago`, or `-`.
  std::string since() const { return age == "-" ? age : age + " ago"; }
};

/// Of what is always shown: all but the reason.
inline constexpr std::array lock_row_headings{"NAME", "MODE", "HOLDER", "SINCE", "TTL", "TOKEN", "WAITERS"};

LockRow row_of(const LockStatus& lock, std::chrono::system_clock::time_point now);

}  // namespace holdfast::cli
