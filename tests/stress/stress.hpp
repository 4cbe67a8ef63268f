#pragma once

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// How long each case runs: HOLDFAST_STRESS_SECONDS, shared between its parameters.
inline std::chrono::milliseconds stress_time() {
  const char* seconds = std::getenv("HOLDFAST_STRESS_SECONDS");
  return std::chrono::milliseconds(static_cast<long>(1000 * (seconds != nullptr ? std::atof(seconds) : 2.0)));
}

/// A wait longer than this is a lost wake-up.
inline constexpr std::chrono::seconds longest_wait{2};

/// Runs `body(thread number, random numbers)` again and again on each of `threads` threads until the time is over.
template <class Body>
void hammer(int threads, Body body) {
  const auto end = std::chrono::steady_clock::now() + stress_time();
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      while (std::chrono::steady_clock::now() < end) body(i, random);
    });
  }
}

}  // namespace holdfast::test
