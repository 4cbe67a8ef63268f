#include <benchmark/benchmark.h>

#include <chrono>
#include <optional>
#include <vector>

#include "driver.hpp"
#include "holdfast/holdfast.hpp"
#include "rounds.hpp"
#include "store/store.hpp"

// What one thread pays when nobody is in its way. Medians, because a disk that others use, too, has long moments.

namespace holdfast::bench {
namespace {

constexpr int rounds = 15;
constexpr std::chrono::milliseconds round_length{300};

/// Microseconds.
template <class Call>
double median_of(Call call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> taken;
  for (const auto end = Clock::now() + round_length; Clock::now() < end;) {
    const auto began = Clock::now();
    call();
    taken.push_back(std::chrono::duration<double, std::micro>(Clock::now() - began).count());
  }
  return median(std::move(taken));
}

void uncontended(benchmark::State& state) {
  Client client(store().url);
  Mutex mutex(client, "bench-pair");
  std::optional<Driver> peer;
  if (const auto command = store().peer_command()) peer.emplace(*command);
  for (auto _ : state) {
    std::vector<Contender> contenders = {
        {"holdfast", [&] { return median_of([&] { benchmark::DoNotOptimize(mutex.acquire()); }); }}};
    if (peer) {
      peer->ask("pair 3");  // its compiler learns while it works
      peer->ask("raw 1");
      contenders.push_back({store().raw, [&] { return peer->ask("raw 0.3"); }});
      contenders.push_back({store().peer, [&] { return peer->ask("pair 0.3"); }});
    }
    Figure figure = compare("1 thread: acquire + ~Hold", "us", rounds, contenders);
    if (peer) figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = store().pair_to_raw};
    report(state, figure);

    contenders[0].round = [&] { return median_of([&] { mutex.acquire().release(); }); };
    report(state, compare("1 thread: acquire + release(), confirmed", "us", rounds, contenders));
  }
}
BENCHMARK(uncontended)->Name("one thread")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
