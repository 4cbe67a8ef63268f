#pragma once

#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "rounds.hpp"

// How many ids are made in a second, by one thread and by several.

namespace holdfast::bench {

constexpr int id_rounds = 101;

/// Millions per second of what `make()` returns, on the calling thread.
template <class Make>
double millions_per_second(Make make) {
  return 1'000 / nanoseconds_each([&] { benchmark::DoNotOptimize(make()); });
}

/// The same for `fill(span)`, which fills `batch`: about as many ids, so mostly within one time slice.
template <class Id, class Fill>
double millions_per_second_in(std::vector<Id>& batch, Fill fill) {
  const int times = static_cast<int>(100'000 / batch.size());
  const double nanoseconds = nanoseconds_each(times, [&] {
    fill(batch);
    benchmark::ClobberMemory();
  });
  return 1'000 / nanoseconds * static_cast<double>(batch.size());
}

/// What `threads` threads make together, each with `make()`, for a quarter of a second.
template <class Make>
double millions_per_second_of(int threads, Make make) {
  constexpr int batch = 1'000;
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> made{0};
  std::latch all_run(threads + 1);
  std::vector<std::jthread> runners;
  for (int i = 0; i < threads; ++i) {
    runners.emplace_back([&] {
      std::uint64_t mine = 0;
      benchmark::DoNotOptimize(make());
      all_run.arrive_and_wait();
      for (; !over.load(std::memory_order_relaxed); mine += batch) {
        for (int each = 0; each < batch; ++each) benchmark::DoNotOptimize(make());
      }
      made += mine;
    });
  }
  all_run.arrive_and_wait();
  const auto began = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  over = true;
  runners.clear();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - began;
  return static_cast<double>(made) / taken.count();
}

}  // namespace holdfast::bench
