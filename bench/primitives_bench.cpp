#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "holdfast/holdfast.hpp"
#include "rounds.hpp"
#include "scratch.hpp"

// The locks for more than one holder, and many asynchronous waiters.

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;

/// How many claims of one client the store grants so that `readers` threads hold a shared lock at the same time.
double claims_for_readers(int readers) {
  Client client("memory:");
  SharedMutex mutex(client, "bench/readers");
  std::latch all_hold(readers);
  std::vector<std::jthread> threads;
  for (int i = 0; i < readers; ++i) {
    threads.emplace_back([&] {
      const Hold hold = mutex.acquire_shared();
      all_hold.arrive_and_wait();
    });
  }
  threads.clear();
  return static_cast<double>(client.health().grants);
}

void readers(benchmark::State& state) {
  constexpr Aim one{.of = Aim::Of::value, .is = Aim::Is::below, .limit = 2};
  for (auto _ : state) {
    report(state,
           {.what = "claims in the store, 16 readers of one client", .value = claims_for_readers(16), .aim = one});
    Client client("memory:");
    SharedMutex shared(client, "bench/shared");
    Mutex mutex(client, "bench/exclusive");
    const Hold first = shared.acquire_shared();
    report(state,
           compare("acquire_shared + ~Hold", "ns", 9,
                   {{"Holdfast", [&] { return nanoseconds_each([&] { const Hold hold = shared.acquire_shared(); }); }},
                    {"a Mutex", [&] { return nanoseconds_each([&] { const Hold hold = mutex.acquire(); }); }}}));
  }
}
BENCHMARK(readers)->Name("shared lock")->Iterations(1);

/// One permit acquired and released, while `held` of 20,000 are out.
class BusySemaphore {
 public:
  BusySemaphore(Client& client, const std::string& name, int held) : semaphore_(client, name, 20'000, long_lease) {
    for (int i = 0; i < held; ++i) holds_.push_back(semaphore_.acquire());
  }

  double pair(int times) {
    return nanoseconds_each(times, [&] { semaphore_.acquire().release(); }) / 1000;
  }

 private:
  // So long that renewals do not disturb the measurement.
  static inline const LockOptions long_lease{.ttl = std::chrono::minutes(10)};

  Semaphore semaphore_;
  std::vector<Hold> holds_;
};

void semaphore_of(benchmark::State& state, const std::string& url, int times) {
  constexpr Aim logarithmic{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = 2.5};
  for (auto _ : state) {
    Client client(url);
    BusySemaphore full(client, "bench/full", 10'000);
    BusySemaphore empty(client, "bench/empty", 100);
    Figure figure =
        compare("acquire + release(), 10,000 permits are out", "us", 9,
                {{"10,000", [&] { return full.pair(times); }}, {"100 are out", [&] { return empty.pair(times); }}});
    figure.aim = logarithmic;
    report(state, figure);
  }
}

void semaphore_in_memory(benchmark::State& state) { semaphore_of(state, "memory:", 2'000); }
BENCHMARK(semaphore_in_memory)->Name("semaphore, memory:")->Iterations(1);

void semaphore_in_file(benchmark::State& state) {
  const Scratch scratch;
  semaphore_of(state, scratch.url(), 200);
}
BENCHMARK(semaphore_in_file)->Name("semaphore, sqlite:")->Iterations(1);

/// Many wait with a callback for one lock, each lets go at once, and whoever came first is served first.
void async_waiters(benchmark::State& state) {
  constexpr int waiters = 100'000;
  constexpr Aim none{.of = Aim::Of::value, .is = Aim::Is::below, .limit = 1};
  for (auto _ : state) {
    Client client("memory:");
    Mutex mutex(client, "bench/async");
    Hold first = mutex.acquire();
    std::atomic<int> served = 0;
    std::atomic<int> out_of_order = 0;
    std::latch all_served(waiters);
    for (int i = 0; i < waiters; ++i) {
      mutex.async_acquire([&, i](std::error_code error, Hold hold) {
        if (error || served++ != i) ++out_of_order;
        hold = Hold();
        all_served.count_down();
      });
    }
    const auto began = std::chrono::steady_clock::now();
    first.release();
    all_served.wait();
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - began;
    report(state, {.what = "served out of order", .value = static_cast<double>(out_of_order), .aim = none});
    report(state, {.what = "time for each", .value = taken.count() / waiters, .unit = "us"});
  }
}
BENCHMARK(async_waiters)->Name("100,000 asynchronous waiters of one lock")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
