#pragma once

#include <chrono>
#include <optional>
#include <ostream>
#include <utility>

#include "holdfast/error.hpp"
#include "holdfast/hold.hpp"
#include "support/eventually.hpp"

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

/// Whether a try, or a short wait, did not get what somebody else holds: it was refused, or, on a busy machine, the
/// store did not answer in so short a time. Everything else that it throws passes.
template <class Call>
bool is_not_granted(Call&& call) {
  bool granted = false;
  const auto error = error_of([&] { granted = static_cast<bool>(std::forward<Call>(call)()); });
  if (error && error->errc() != Errc::in_doubt && error->errc() != Errc::unreachable) throw *error;
  return !granted;
}

/// Makes a call that may be repeated until the store answers it: on a busy machine it may not do so in time.
template <class Call>
auto answered(Call&& call) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    try {
      return call();
    } catch (const Error& error) {
      const bool silent = error.errc() == Errc::in_doubt || error.errc() == Errc::unreachable;
      if (!silent || std::chrono::steady_clock::now() > deadline) throw;
    }
  }
}

}  // namespace test
}  // namespace holdfast
