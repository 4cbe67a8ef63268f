#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "rounds.hpp"
#include "support/redis_server.hpp"

// Very many locks that are held for long.

namespace holdfast::bench {
namespace {

using std::chrono::seconds;

double processor_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

void many_locks(benchmark::State& state) {
  constexpr std::size_t locks = 100'000;
  constexpr seconds ttl{30};
  const test::RedisServer server;
  for (auto _ : state) {
    Client client(server.url());
    std::vector<Hold> holds;
    holds.reserve(locks);
    for (std::size_t i = 0; i < locks; ++i) {
      holds.push_back(Mutex(client, "orders/order-" + std::to_string(i), {.ttl = ttl}).acquire());
    }
    const Health before = client.health();
    const double processor_before = processor_seconds();
    std::this_thread::sleep_for(ttl);
    const double processor = processor_seconds() - processor_before;
    const Health after = client.health();
    const auto renewals = static_cast<double>(after.renewals - before.renewals);

    report(state, {.what = "100,000 locks, ttl 30 s, for 30 s: lost",
                   .value = static_cast<double>(after.lost),
                   .aim = Aim{.limit = 1}});
    report(state, {.what = "- renewals of each", .value = renewals / locks / ttl.count(), .unit = "/s"});
    report(state, {.what = "- processor time of the client",
                   .value = processor / ttl.count() * 100,
                   .unit = "% of a CPU",
                   .aim = Aim{.limit = 5}});
    report(state, {.what = "- for one renewal", .value = processor / renewals * 1e9, .unit = "ns"});
  }
}
BENCHMARK(many_locks)->Name("upkeep")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
