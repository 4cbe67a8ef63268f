#pragma once

#include <chrono>
#include <concepts>
#include <thread>

namespace holdfast::test {

/// How long a test waits for what must happen. Generous: only a failing test ever waits this long.
inline constexpr std::chrono::milliseconds patience = std::chrono::seconds(60);

/// Whether `predicate` becomes true within `bound`. Asks every few milliseconds.
template <std::predicate Predicate>
bool eventually(std::chrono::milliseconds bound, Predicate predicate) {
  const auto deadline = std::chrono::steady_clock::now() + bound;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() >= deadline) return predicate();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

template <std::predicate Predicate>
bool eventually(Predicate predicate) {
  return eventually(patience, std::move(predicate));
}

}  // namespace holdfast::test
