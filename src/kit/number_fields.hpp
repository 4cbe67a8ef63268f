#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>

/// Numbers and durations in what a store keeps as text. Any program may have written it, so any text has a value.
namespace holdfast::kit {

/// The number with which the text begins. 0 if it begins with none that fits.
inline std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// That many units. Durations that do not fit into nanoseconds are cut off, so that others can be added to them.
template <class Unit>
Unit duration_in(std::string_view text) {
  constexpr std::int64_t most = std::chrono::duration_cast<Unit>(std::chrono::nanoseconds::max()).count();
  return Unit(std::clamp(number_in(text), -most, most));
}

}  // namespace holdfast::kit
