#include <benchmark/benchmark.h>

#include <mutex>

#include "allocations.hpp"
#include "holdfast/holdfast.hpp"
#include "rounds.hpp"

// What one thread pays when nobody is in its way.

namespace holdfast::bench {
namespace {

constexpr int rounds = 201;

Contender standard_mutex(std::mutex& mutex) {
  return {"std::mutex", [&mutex] {
            return nanoseconds_each([&] {
              mutex.lock();
              benchmark::ClobberMemory();
              mutex.unlock();
            });
          }};
}

/// How often `work` allocates, once it has done it often enough to have what it keeps.
template <class Work>
double allocations_of(Work work) {
  constexpr int times = 10'000;
  nanoseconds_each(times, work);
  const auto before = allocations_of_this_thread();
  nanoseconds_each(times, work);
  return static_cast<double>(allocations_of_this_thread() - before) / times;
}

void reentry(benchmark::State& state) {
  Client client("memory:");
  RecursiveMutex ours(client, "bench/reentry");
  std::recursive_mutex theirs;
  const std::scoped_lock held(ours, theirs);
  const auto round = [](auto& mutex) {
    return nanoseconds_each([&] {
      mutex.lock();
      benchmark::ClobberMemory();
      mutex.unlock();
    });
  };
  for (auto _ : state) {
    Figure figure =
        compare("lock + unlock of a held RecursiveMutex", "ns", rounds,
                {{"holdfast", [&] { return round(ours); }}, {"std::recursive_mutex", [&] { return round(theirs); }}});
    figure.aim = Aim{.of = Aim::Of::value, .is = Aim::Is::below, .limit = 50};
    report(state, figure);
  }
}
BENCHMARK(reentry)->Name("re-entry")->Iterations(1);

void uncontended(benchmark::State& state) {
  Client client("memory:");
  Mutex mutex(client, "bench/uncontended");
  std::mutex standard;

  const auto lock_unlock = [&] {
    mutex.lock();
    benchmark::ClobberMemory();
    mutex.unlock();
  };
  const auto hold_and_drop = [&] { benchmark::DoNotOptimize(mutex.acquire()); };
  const auto hold_and_release = [&] {
    Hold hold = mutex.acquire();
    benchmark::DoNotOptimize(hold.release());
  };
  const auto own_object = [&] {
    Mutex own(client, "bench/uncontended");
    const std::scoped_lock held(own);
    benchmark::ClobberMemory();
  };
  const auto measure = [&](const std::string& what, auto work) {
    report(state, compare(what, "ns", rounds,
                          {{"holdfast", [&] { return nanoseconds_each(work); }}, standard_mutex(standard)}));
    report(state, {.what = "- allocations of " + what, .value = allocations_of(work), .unit = "a pair"});
  };
  for (auto _ : state) {
    measure("lock + unlock", lock_unlock);
    measure("acquire + ~Hold", hold_and_drop);
    measure("acquire + release, confirmed", hold_and_release);
    measure("lock + unlock with a Mutex object of its own", own_object);
  }
}
BENCHMARK(uncontended)->Name("uncontended pair, one thread")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
