#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "rounds.hpp"

// Many threads count to their own number: each takes the lock, once, and adds one.

namespace holdfast::bench {
namespace {

constexpr int rounds = 3;
constexpr std::size_t many = 10'000;

struct Times {
  double total;  ///< milliseconds from the first thread's start to the last one's end
  double race;   ///< of these, since all threads had started
};

/// `count_one(counter)` runs on each thread.
template <class CountOne>
Times count_to_many(CountOne count_one) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto began = std::chrono::steady_clock::now();
  std::size_t counter = 0;  // guarded by the lock that is measured
  std::latch gate(many + 1);
  std::vector<std::jthread> threads;
  threads.reserve(many);
  for (std::size_t i = 0; i < many; ++i) {
    threads.emplace_back([&] {
      gate.arrive_and_wait();
      count_one(counter);
    });
  }
  gate.arrive_and_wait();
  const auto opened = std::chrono::steady_clock::now();
  threads.clear();
  const auto ended = std::chrono::steady_clock::now();
  if (counter != many) throw std::runtime_error("the threads counted to " + std::to_string(counter));
  return {Milliseconds(ended - began).count(), Milliseconds(ended - opened).count()};
}

Times with_holdfast() {
  Client client("memory:counting");
  return count_to_many([&](std::size_t& counter) {
    Mutex mutex(client, "bench/counter");
    const std::scoped_lock lock(mutex);
    ++counter;
  });
}

Times with_standard_mutex() {
  std::mutex mutex;
  return count_to_many([&](std::size_t& counter) {
    const std::scoped_lock lock(mutex);
    ++counter;
  });
}

void counting(benchmark::State& state) {
  std::vector<double> ours;
  std::vector<double> theirs;
  const auto total = [](std::vector<double>& races, const Times& times) {
    races.push_back(times.race);
    return times.total;
  };
  for (auto _ : state) {
    report(state, compare("all of it, a Mutex object for each thread", "ms", rounds,
                          {{"holdfast", [&] { return total(ours, with_holdfast()); }},
                           {"std::mutex", [&] { return total(theirs, with_standard_mutex()); }}}));
    const double a = median(ours);
    const double b = median(theirs);
    report(state, {.what = "- of which after all threads had started",
                   .value = a,
                   .unit = "ms",
                   .peers = {{"std::mutex", b, a / b}}});
  }
}
BENCHMARK(counting)->Name("10,000 threads count to 10,000")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
