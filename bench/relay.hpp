#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace holdfast::bench {

/// Threads that do nothing but take a lock, note who had it before, and give it back.
///
/// A turn counts only if another thread had the one before: a lock that lets a thread have it again and again hands
/// nothing over.
struct Relay {
  std::uint64_t inside_teams = 0;   ///< from one thread of a team to another
  std::uint64_t between_teams = 0;  ///< from one team to the other
  double seconds = 0;
  std::vector<double> latencies = {};     ///< nanoseconds from before unlock() to after lock(), between teams
  std::vector<std::uint64_t> turns = {};  ///< of each runner

  double inside_per_second() const { return static_cast<double>(inside_teams) / seconds; }
  double between_per_second() const { return static_cast<double>(between_teams) / seconds; }
};

/// One thread of a relay: its lock object and its team (a client, say).
template <class Lock>
struct Runner {
  Lock* lock;
  int team = 0;
};

/// Binds the calling thread to one of the processors that the process may use.
inline void stay_on_processor(std::size_t which) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<std::size_t> processors;
  for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) processors.push_back(i);
  }
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(processors[which % processors.size()], &mine);
  ::sched_setaffinity(0, sizeof mine, &mine);
}

/// Runners are dealt out to the processors. Left to the scheduler, two of them may end up on one; then a thread that is
/// woken often runs before the other one can queue up again, and has the lock to itself for a time slice.
template <class Lock>
Relay run_relay(const std::vector<Runner<Lock>>& runners, std::chrono::nanoseconds duration) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t most_latencies = 1'000'000;
  Relay relay;
  relay.latencies.reserve(most_latencies);
  relay.turns.resize(runners.size());
  // Guarded by the lock that is measured.
  const Runner<Lock>* last = nullptr;
  Clock::time_point given_back;

  std::latch gate(static_cast<std::ptrdiff_t>(runners.size()) + 1);
  std::atomic<bool> over{false};
  const auto run = [&](const Runner<Lock>& me) {
    const auto index = static_cast<std::size_t>(&me - runners.data());
    std::uint64_t& turns = relay.turns[index];
    stay_on_processor(index);
    gate.arrive_and_wait();
    while (!over.load(std::memory_order_relaxed)) {
      const std::scoped_lock hold(*me.lock);
      const Clock::time_point now = Clock::now();
      if (last != nullptr && last->team != me.team) {
        ++relay.between_teams;
        if (relay.latencies.size() < most_latencies) {
          relay.latencies.push_back(std::chrono::duration<double, std::nano>(now - given_back).count());
        }
      } else if (last != nullptr && last != &me) {
        ++relay.inside_teams;
      }
      last = &me;
      ++turns;
      given_back = Clock::now();
    }
  };

  std::vector<std::jthread> threads;
  threads.reserve(runners.size());
  for (const Runner<Lock>& runner : runners) threads.emplace_back([&run, &runner] { run(runner); });
  gate.arrive_and_wait();
  const auto began = Clock::now();
  std::this_thread::sleep_for(duration);
  over = true;
  relay.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  threads.clear();
  return relay;
}

}  // namespace holdfast::bench
