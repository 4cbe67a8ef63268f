#include <benchmark/benchmark.h>

#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "allocations.hpp"
#include "figures.hpp"
#include "holdfast/holdfast.hpp"

// What many waiters and many locks occupy.

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Waits, but not for ever, until `condition` holds.
template <class Condition>
void wait_until(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error("it took more than a minute");
    std::this_thread::sleep_for(milliseconds(5));
  }
}

/// Heap bytes that blocking costs each thread, beyond having the thread: `threads` threads exist and sleep, then each
/// of them blocks in `block()`; `all_blocked()` returns when they do, and `let_go()` lets them return.
template <class Block, class AllBlocked, class LetGo>
double heap_of_blocking(std::size_t threads, Block block, AllBlocked all_blocked, LetGo let_go) {
  std::latch all_exist(static_cast<std::ptrdiff_t>(threads));
  std::latch may_begin(1);
  std::vector<std::jthread> all;
  all.reserve(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      all_exist.count_down();
      may_begin.wait();
      block();
    });
  }
  all_exist.wait();
  const HeapScale scale;
  may_begin.count_down();
  all_blocked();
  const double growth = static_cast<double>(scale.growth()) / static_cast<double>(threads);
  let_go();
  return growth;
}

double heap_of_waiting(bool own_objects) {
  constexpr std::size_t threads = 2'000;
  Client client("memory:");
  Mutex shared(client, "bench/waiting/threads");
  Hold hold = shared.acquire();
  const auto block = [&] {
    if (!own_objects) {
      const std::scoped_lock lock(shared);
      return;
    }
    Mutex own(client, "bench/waiting/threads");
    const std::scoped_lock lock(own);
  };
  return heap_of_blocking(
      threads, block, [&] { wait_until([&] { return client.health().waiting == threads; }); }, [&] { hold.release(); });
}

double heap_of_pending() {
  constexpr std::size_t pending = 100'000;
  Client client("memory:");
  Mutex mutex(client, "bench/waiting/callbacks");
  const Hold hold = mutex.acquire();
  const HeapScale scale;
  for (std::size_t i = 0; i < pending; ++i) mutex.async_acquire([](std::error_code, const Hold&) {});
  return static_cast<double>(scale.growth()) / pending;
}

void waiting(benchmark::State& state) {
  for (auto _ : state) {
    report(state, {.what = "blocked thread, of 2,000", .value = heap_of_waiting(false), .unit = "B"});
    report(state, {.what = "- each with a Mutex object of its own", .value = heap_of_waiting(true), .unit = "B"});
    report(state, {.what = "pending async_acquire, of 100,000", .value = heap_of_pending(), .unit = "B"});
  }
}
BENCHMARK(waiting)->Name("heap of whoever waits")->Iterations(1);

void held(benchmark::State& state) {
  constexpr std::size_t locks = 100'000;
  constexpr Aim small{.of = Aim::Of::value, .is = Aim::Is::below, .limit = 1024};
  const auto name = [](std::size_t i) { return "orders/order-" + std::to_string(i); };
  for (auto _ : state) {
    Client client("memory:");
    // What stands in the two vectors is added, because they are there before.
    std::vector<Hold> holds;
    holds.reserve(locks);
    std::vector<std::unique_ptr<Mutex>> mutexes;
    mutexes.reserve(locks);
    const HeapScale scale;
    const auto heap_per_lock = [&] { return static_cast<double>(scale.growth()) / locks; };
    for (std::size_t i = 0; i < locks; ++i) holds.push_back(Mutex(client, name(i)).acquire());
    const double with_hold = heap_per_lock() + sizeof(Hold);
    for (std::size_t i = 0; i < locks; ++i) mutexes.push_back(std::make_unique<Mutex>(client, name(i)));
    const double with_mutex = heap_per_lock() + sizeof(Hold) + sizeof(mutexes[0]);

    report(state, {.what = "client and store, with the Hold", .value = with_hold, .unit = "B", .aim = small});
    report(state, {.what = "- and with a Mutex object for each", .value = with_mutex, .unit = "B", .aim = small});
  }
}
BENCHMARK(held)->Name("heap of a held lock, of 100,000")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
