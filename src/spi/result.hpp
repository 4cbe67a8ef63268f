#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

#include "holdfast/error.hpp"
#include "spi/vocabulary.hpp"

namespace holdfast::spi {

/// Why a request failed. Only after `Errc::in_doubt` it may have happened all the same.
struct Failure {
  Errc code;
  std::string detail = {};  ///< for people; never a secret
};

/// Whether the same request may be sent again after `code`.
constexpr bool is_retryable(Errc code) {
  return code == Errc::unreachable || code == Errc::in_doubt || code == Errc::exhausted;
}

struct Nothing {};

/// Either a value or a Failure.
template <class T = Nothing>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  /// REQUIRES: ok().
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  /// REQUIRES: !ok().
  Failure& failure() { return std::get<1>(state_); }
  const Failure& failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

/// Whether the store was heard: a refusal is an answer too.
template <class T>
bool was_reached(const Result<T>& result) {
  return result.ok() || !is_retryable(result.failure().code);
}

/// Runs exactly once, under the monitor, and never inside the call that took it.
template <class T = Nothing>
using Done = Callback<void(Result<T>)>;

}  // namespace holdfast::spi
