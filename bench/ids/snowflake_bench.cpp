#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "allocations.hpp"
#include "figures.hpp"
#include "holdfast/client.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "rates.hpp"

// Snowflake ids with a worker number of memory:, which issuing does not contact. A layout limits how many ids there are:
// 41/10/12 has 4.096 M/s for each worker, whatever a call costs. What calls cost is measured with a layout that has room.

namespace holdfast::bench {
namespace {

using ids::IdRange;
using ids::Order;
using ids::Snowflake;
using ids::SnowflakeLayout;
using ids::SnowflakeOptions;

constexpr SnowflakeLayout standard;
/// 131 M/s for each of 32 workers.
constexpr SnowflakeLayout wide({.time_bits = 41, .worker_bits = 5, .sequence_bits = 17});
/// 4,194 M/s, for one worker.
constexpr SnowflakeLayout widest({.time_bits = 41, .worker_bits = 0, .sequence_bits = 22});

Aim at_least(double limit, Aim::Of of = Aim::Of::value) { return {.of = of, .is = Aim::Is::at_least, .limit = limit}; }

struct Generator {
  Generator(const SnowflakeLayout& layout, Order order)
      : ids(client, "bench", SnowflakeOptions{.layout = layout, .order = order}) {
    ids.next();
  }
  Client client{"memory:ids-bench-" + std::to_string(++made)};
  Snowflake ids;
  static inline int made = 0;
};

/// As the classic ones do it: a mutex, the exact clock for every id, and a spin until the next millisecond.
class MutexSnowflake {
 public:
  std::uint64_t next() {
    const std::scoped_lock lock(mutex_);
    std::int64_t now = milliseconds();
    if (now == last_) {
      sequence_ = (sequence_ + 1) & 4095U;
      while (sequence_ == 0 && (now = milliseconds()) == last_) {
      }
    } else {
      sequence_ = 0;
    }
    last_ = now;
    return static_cast<std::uint64_t>(now) << 22U | 5U << 12U | sequence_;
  }

 private:
  static std::int64_t milliseconds() {
    using std::chrono::system_clock;
    return std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
  }
  std::mutex mutex_;
  std::int64_t last_ = 0;
  std::uint64_t sequence_ = 0;
};

void one_thread(benchmark::State& state) {
  constexpr int rounds = 21;
  const auto rate_of = [](Generator& made) {
    return [&made] { return millions_per_second([&] { return made.ids.next(); }); };
  };
  for (auto _ : state) {
    Generator by_process(widest, Order::process);
    Generator by_thread(widest, Order::thread);
    Figure figure =
        compare("process-ordered, next(), layout with room", "M/s", rounds, {{"Holdfast", rate_of(by_process)}});
    figure.aim = at_least(125);  // 8 ns
    report(state, figure);
    figure = compare("thread-ordered, next(), layout with room", "M/s", rounds, {{"Holdfast", rate_of(by_thread)}});
    figure.aim = at_least(120);
    report(state, figure);
    figure = compare("reserve(1,000), layout with room", "M/s", rounds,
                     {{"Holdfast", [&] {
                         return 1000 * millions_per_second([&] {
                                  std::uint64_t sum = 0;
                                  for (const std::uint64_t id : by_thread.ids.reserve(1000)) sum += id;
                                  return sum;
                                });
                       }}});
    figure.aim = at_least(500);
    report(state, figure);
  }
}
BENCHMARK(one_thread)->Name("snowflake, one thread")->Iterations(1);

/// The share of what a layout has that `threads` threads get in some seconds, in percent.
void format_limit(benchmark::State& state) {
  constexpr int rounds = 5;
  for (auto _ : state) {
    for (const int threads : {1, 2, 16}) {
      Generator made(standard, Order::process);
      MutexSnowflake classic;
      const double limit = static_cast<double>(standard.ids_per_second()) / 1e6;
      Figure figure = compare(
          "41/10/12, process-ordered, " + std::to_string(threads) + " threads", "% of 4.096 M/s", rounds,
          {{"Holdfast", [&] { return millions_per_second_of(threads, [&] { return made.ids.next(); }) / limit * 100; }},
           {"mutex and exact clock",
            [&] { return millions_per_second_of(threads, [&] { return classic.next(); }) / limit * 100; }}});
      figure.aim = at_least(99.9);
      report(state, figure);
    }
    for (const int threads : {1, 2, 16}) {
      Generator made(wide, Order::thread);
      report(state,
             compare("41/5/17, thread-ordered, " + std::to_string(threads) + " threads", "M/s", rounds,
                     {{"Holdfast", [&] { return millions_per_second_of(threads, [&] { return made.ids.next(); }); }}}));
    }
  }
}
BENCHMARK(format_limit)->Name("snowflake, several threads")->Iterations(1)->UseRealTime();

void time_error(benchmark::State& state) {
  for (auto _ : state) {
    Generator made(standard, Order::process);
    std::chrono::milliseconds worst{};
    for (int i = 0; i < 2'000'000; ++i) {
      const std::uint64_t id = made.ids.next();
      if (i % 16 != 0) continue;
      const auto now = std::chrono::system_clock::now();
      const auto error =
          std::chrono::abs(std::chrono::floor<std::chrono::milliseconds>(now) - standard.decode(id).time);
      worst = std::max(worst, error);
    }
    report(state, {.what = "largest time error at the limit of 41/10/12",
                   .value = static_cast<double>(worst.count()),
                   .unit = "ms"});
  }
}
BENCHMARK(time_error)->Name("snowflake, time error")->Iterations(1);

void allocations(benchmark::State& state) {
  for (auto _ : state) {
    Generator by_process(wide, Order::process);
    Generator by_thread(wide, Order::thread);
    const std::uint64_t before = allocations_of_this_thread();
    for (int i = 0; i < 100'000; ++i) {
      benchmark::DoNotOptimize(by_process.ids.next());
      benchmark::DoNotOptimize(by_thread.ids.next());
    }
    const std::uint64_t allocated = allocations_of_this_thread() - before;
    report(state,
           {.what = "allocations for 200,000 ids", .value = static_cast<double>(allocated), .aim = Aim{.limit = 1}});
  }
}
BENCHMARK(allocations)->Name("heap of snowflakes")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
