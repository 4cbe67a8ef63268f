#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "relay.hpp"

// Threads of one process that take locks of a store.

namespace holdfast::bench {

/// One for each thread.
template <class Lock>
using Locks = std::vector<std::unique_ptr<Lock>>;

/// Each thread takes its own lock again and again.
template <class Lock>
double pairs_per_second(const Locks<Lock>& locks, std::chrono::milliseconds duration = std::chrono::milliseconds(300)) {
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> pairs{0};
  const auto began = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> runners;
    for (const auto& lock : locks) {
      runners.emplace_back([&over, &pairs, &lock = *lock] {
        std::uint64_t mine = 0;
        for (; !over.load(std::memory_order_relaxed); ++mine) const std::scoped_lock held(lock);
        pairs += mine;
      });
    }
    std::this_thread::sleep_for(duration);
    over = true;
  }
  return static_cast<double>(pairs) / std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// All take one lock, each through an object of its own.
template <class Lock>
Relay relay_through(const Locks<Lock>& locks, std::chrono::milliseconds duration = std::chrono::milliseconds(400)) {
  std::vector<Runner<Lock>> runners;
  for (const auto& lock : locks) runners.push_back({lock.get()});
  return run_relay(runners, duration);
}

template <class Lock>
double changes_per_second(const Locks<Lock>& locks) {
  return relay_through(locks).inside_per_second();
}

}  // namespace holdfast::bench
