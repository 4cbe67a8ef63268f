#pragma once

#include <optional>
#include <ostream>
#include <utility>

#include "holdfast/error.hpp"
#include "holdfast/hold.hpp"

namespace holdfast {

// How GoogleTest prints them.
inline void PrintTo(Errc code, std::ostream* out) { *out << make_error_code(code).message(); }
inline void PrintTo(HoldState state, std::ostream* out) {
  static constexpr const char* names[] = {"held", "at_risk", "lost", "released"};
  *out << names[static_cast<int>(state)];
}
inline void PrintTo(Released outcome, std::ostream* out) {
  static constexpr const char* names[] = {"released", "not_held", "in_doubt"};
  *out << names[static_cast<int>(outcome)];
}

namespace test {

/// The Error that `call` throws; empty if it throws nothing.
template <class Call>
std::optional<Error> error_of(Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// What the Error that `call` throws stands for; empty if it throws nothing.
template <class Call>
std::optional<Errc> errc_of(Call&& call) {
  const auto error = error_of(std::forward<Call>(call));
  if (!error) return std::nullopt;
  return error->errc();
}

}  // namespace test
}  // namespace holdfast
