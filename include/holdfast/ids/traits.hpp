#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace holdfast::ids {

/// Among which calls a later one always returns a larger id. "Later" means that it begins after the other has returned;
/// nothing is promised about calls that overlap.
enum class Order {
  none,     ///< among no calls
  thread,   ///< among those of one thread; nothing is promised across threads
  process,  ///< among those on one generator of one process, whichever threads make them
  global,   ///< among all calls, in whatever process
};

constexpr std::string_view to_string(Order order) noexcept {
  switch (order) {
    case Order::none: return "none";
    case Order::thread: return "thread";
    case Order::process: return "process";
    case Order::global: return "global";
  }
  return "unknown";
}

/// What a kind of ids promises, as data: every generator has a `traits()`. The texts are literals.
struct Traits {
  /// "uuid7", "snowflake", ...
  std::string_view kind;
  /// What makes any two ids differ, as a phrase: "74 random bits".
  std::string_view unique_by;
  Order order = Order::none;
  /// Whether the time of its creation can be read from an id.
  bool carries_time = false;
  /// What happens while the store cannot be reached, as a phrase: "it goes on; it needs no store".
  std::string_view in_an_outage;
  /// From when on there are no more ids, because the format has no larger time. None if that does not depend on time.
  std::optional<std::chrono::sys_seconds> ends = {};
};

}  // namespace holdfast::ids
