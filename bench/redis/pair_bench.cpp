#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "driver.hpp"
#include "holdfast/holdfast.hpp"
#include "processors.hpp"
#include "redis/raw.hpp"
#include "rounds.hpp"
#include "support/redis_server.hpp"

// What one thread pays when nobody is in its way.

namespace holdfast::bench {
namespace {

constexpr int rounds = 151;
constexpr int pairs = 100;

template <class Pair>
double microseconds_each(Pair pair) {
  return nanoseconds_each(pairs, pair) / 1000;
}

/// A loopback round trip takes three times as long if the wake-ups cross processors: two figures that do not mix.
void uncontended(benchmark::State& state, bool one_processor, double most) {
  const test::RedisServer server;
  const int port = std::stoi(server.port());
  for (auto _ : state) {
    const Processors ours_here;
    const Processors servers(server.pid());
    ours_here.use_only(1);
    servers.use_only(one_processor ? 1 : 0);

    Client client(server.url());
    Mutex mutex(client, "bench");
    RawLock raw(port, "bench/raw");
    Driver redis_py({"/usr/bin/python3", HOLDFAST_PEERS "/redis_py.py", server.port()});
    const auto ours = [&] { return microseconds_each([&] { benchmark::DoNotOptimize(mutex.acquire()); }); };
    const auto confirmed = [&] { return microseconds_each([&] { mutex.acquire().release(); }); };
    const auto floor = [&] {
      return microseconds_each([&] {
        raw.lock();
        raw.unlock();
      });
    };
    const auto python = [&] { return redis_py.ask("pair " + std::to_string(pairs)); };
    Figure figure = compare("acquire + ~Hold", "us", rounds,
                            {{"holdfast", ours}, {"raw hiredis", floor}, {"redis-py Lock", python}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = most};
    report(state, figure);
    report(state,
           compare("acquire + release(), confirmed", "us", rounds, {{"holdfast", confirmed}, {"raw hiredis", floor}}));
  }
}
BENCHMARK_CAPTURE(uncontended, one, true, 0.75)->Name("pair, client and server on one processor")->Iterations(1);
BENCHMARK_CAPTURE(uncontended, two, false, 0.8)->Name("pair, client and server on two processors")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
