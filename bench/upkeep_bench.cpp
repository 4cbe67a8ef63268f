#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "rounds.hpp"

// Whether leases are renewed, what that costs, and whom it keeps waiting.

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Aim none{.of = Aim::Of::value, .is = Aim::Is::below, .limit = 1};

std::vector<Hold> hold_many(Client& client, std::size_t locks, milliseconds ttl) {
  std::vector<Hold> holds;
  holds.reserve(locks);
  for (std::size_t i = 0; i < locks; ++i) {
    holds.push_back(Mutex(client, "orders/order-" + std::to_string(i), {.ttl = ttl}).acquire());
  }
  return holds;
}

double processor_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// Locks and unlocks now and then for some time; microseconds that each took.
std::vector<double> probe(Mutex& mutex, seconds duration) {
  std::vector<double> taken;
  const auto until = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < until) {
    taken.push_back(nanoseconds_each(1, [&] { const std::scoped_lock lock(mutex); }) / 1000);
    std::this_thread::sleep_for(milliseconds(1));
  }
  return taken;
}

void many_locks(benchmark::State& state) {
  constexpr std::size_t locks = 100'000;
  for (auto _ : state) {
    Client client("memory:");
    Mutex other(client, "bench/other");
    const auto alone = probe(other, seconds(3));

    const auto holds = hold_many(client, locks, seconds(1));
    const Health before = client.health();
    const double processor_before = processor_seconds();
    const auto began = std::chrono::steady_clock::now();
    const auto meanwhile = probe(other, seconds(6));
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double processor = processor_seconds() - processor_before;
    const Health after = client.health();
    const auto renewals = static_cast<double>(after.renewals - before.renewals);

    report(state, {.what = "locks lost", .value = static_cast<double>(after.lost), .aim = none});
    report(state, {.what = "renewals of each lock", .value = renewals / locks / taken, .unit = "/s"});
    report(state, {.what = "processor time", .value = processor / taken * 100, .unit = "% of a CPU"});
    report(state, {.what = "- for one renewal", .value = processor / renewals * 1e9, .unit = "ns"});
    for (const double percent : {50.0, 99.0, 100.0}) {
      const double a = percentile(meanwhile, percent);
      const double b = percentile(alone, percent);
      const std::string which = percent == 100 ? "max" : "p" + std::to_string(static_cast<int>(percent));
      report(state, {.what = "lock + unlock of another lock, " + which,
                     .value = a,
                     .unit = "us",
                     .peers = {{"while none are held", b, a / b}}});
    }
  }
}
BENCHMARK(many_locks)->Name("upkeep of 100,000 locks, ttl 1 s")->Iterations(1);

/// Renewals must not depend on what the user's threads do.
void busy_threads(benchmark::State& state) {
  constexpr std::size_t locks = 10;
  constexpr milliseconds ttl{300};
  constexpr seconds duration{4};
  for (auto _ : state) {
    Client client("memory:");
    const auto holds = hold_many(client, locks, ttl);
    std::atomic<bool> over{false};
    std::atomic<std::uint64_t> pairs{0};
    {
      std::vector<std::jthread> threads;
      for (std::int64_t i = 0; i < state.range(0); ++i) {
        threads.emplace_back([&, i] {
          Mutex own(client, "bench/busy-" + std::to_string(i));
          std::uint64_t mine = 0;
          for (; !over; ++mine) const std::scoped_lock lock(own);
          pairs += mine;
        });
      }
      std::this_thread::sleep_for(duration);
      over = true;
    }
    const Health health = client.health();
    const double expected = static_cast<double>(locks * 3) * duration / ttl;
    report(state, {.what = "locks lost, of 10", .value = static_cast<double>(health.lost), .aim = none});
    report(state, {.what = "renewals that came, of those due",
                   .value = static_cast<double>(health.renewals) / expected * 100,
                   .unit = "%"});
    report(state,
           {.what = "pairs of all threads", .value = static_cast<double>(pairs) / duration.count(), .unit = "/s"});
  }
}
BENCHMARK(busy_threads)->Name("upkeep of 10 locks, ttl 300 ms, busy threads")->Arg(4)->Arg(64)->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
