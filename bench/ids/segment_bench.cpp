#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "figures.hpp"
#include "holdfast/client.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/segment.hpp"
#include "rates.hpp"

// Numbers from a counter that is asked for many at a time, beside a bare atomic counter. The store is `memory:`; a
// segment needs it once in a hundred million ids.

namespace holdfast::bench {
namespace {

using ids::AutoIncrement;
using ids::Segment;

Aim at_least(double limit) { return {.of = Aim::Of::value, .is = Aim::Is::at_least, .limit = limit}; }

/// What a call costs whose code the compiler does not see through.
[[gnu::noinline]] std::uint64_t called(Segment::Local& ids) { return ids.next(); }

void one_thread(benchmark::State& state) {
  Client client("memory:bench-ids");
  Segment shared(client, "shared");
  Segment::Local local(shared);
  std::atomic<std::uint64_t> bare = 0;
  const auto peer = [&] { return millions_per_second([&] { return bare.fetch_add(1); }); };
  for (auto _ : state) {
    Figure figure = compare(
        "a handle of the thread, inlined", "M/s", id_rounds,
        {{"Holdfast", [&] { return millions_per_second([&] { return local.next(); }); }}, {"std::atomic", peer}});
    figure.aim = at_least(1'000);
    report(state, figure);
    figure = compare("a handle of the thread, called", "M/s", id_rounds,
                     {{"Holdfast", [&] { return millions_per_second([&] { return called(local); }); }}});
    figure.aim = at_least(400);
    report(state, figure);
    report(state, compare("process-ordered, next()", "M/s", id_rounds,
                          {{"Holdfast", [&] { return millions_per_second([&] { return shared.next(); }); }},
                           {"std::atomic", peer}}));
  }
}
BENCHMARK(one_thread)->Name("Segments, one thread")->Iterations(1);

void several_threads(benchmark::State& state) {
  Client client("memory:bench-ids");
  Segment shared(client, "shared");
  constexpr int rounds = 5;
  const auto by_handle = [&](int threads) {
    return [&shared, threads] {
      return millions_per_second_of(threads, [&shared] {
        thread_local Segment::Local ids(shared);
        return ids.next();
      });
    };
  };
  const auto by_process = [&](int threads) {
    return [&shared, threads] { return millions_per_second_of(threads, [&] { return shared.next(); }); };
  };
  for (auto _ : state) {
    for (const int threads : {2, 16}) {
      const std::string with = ", " + std::to_string(threads) + " threads";
      report(state, compare("handles" + with, "M/s", rounds,
                            {{"Holdfast", by_handle(threads)}, {"one thread", by_handle(1)}}));
      report(state, compare("process-ordered" + with, "M/s", rounds,
                            {{"Holdfast", by_process(threads)}, {"one thread", by_process(1)}}));
    }
  }
}
BENCHMARK(several_threads)->Name("Segments, several threads")->Iterations(1)->UseRealTime();

/// The slowest of ten thousand calls, while refills go on beside them.
void latency(benchmark::State& state) {
  using Clock = std::chrono::steady_clock;
  Client client("memory:bench-ids");
  Segment shared(client, "latency", {.min_step = 100'000, .max_step = 100'000});
  for (auto _ : state) {
    const auto slowest = [&] {
      constexpr std::size_t calls = 100'000;
      std::vector<double> nanoseconds;
      nanoseconds.reserve(calls);
      for (std::size_t call = 0; call < calls; ++call) {
        const auto began = Clock::now();
        benchmark::DoNotOptimize(shared.next());
        nanoseconds.push_back(std::chrono::duration<double, std::nano>(Clock::now() - began).count());
      }
      return percentile(std::move(nanoseconds), 99.99) / 1'000;
    };
    Figure figure = compare("P99.99 of next(), the clock's cost included", "us", 21, {{"Holdfast", slowest}});
    figure.aim = Aim{.of = Aim::Of::value, .is = Aim::Is::below, .limit = 0.2};
    report(state, figure);
    Segment::Local local(shared);
    const std::uint64_t before = allocations_of_this_thread();
    for (int call = 0; call < 100'000; ++call) benchmark::DoNotOptimize(local.next());
    report(state, {.what = "allocations for 100,000 ids",
                   .value = static_cast<double>(allocations_of_this_thread() - before),
                   .aim = Aim{.limit = 100}});
  }
}
BENCHMARK(latency)->Name("Segments, latency")->Iterations(1);

void counters(benchmark::State& state) {
  Client client("memory:bench-ids");
  AutoIncrement counter(client, "counter");
  for (auto _ : state) {
    report(state, compare("auto, next() on memory:", "M/s", 21,
                          {{"Holdfast", [&] { return millions_per_second([&] { return counter.next(); }); }}}));
  }
}
BENCHMARK(counters)->Name("Counters")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
