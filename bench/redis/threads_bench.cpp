#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "driver.hpp"
#include "holdfast/holdfast.hpp"
#include "redis/pipelined.hpp"
#include "redis/raw.hpp"
#include "rounds.hpp"
#include "support/redis_server.hpp"
#include "threads.hpp"

// Sixteen threads of one process, which have one client and so one connection.

namespace holdfast::bench {
namespace {

constexpr int threads = 16;

void many_locks(benchmark::State& state) {
  constexpr int rounds = 9;
  const test::RedisServer server;
  const int port = std::stoi(server.port());
  Client client(server.url());
  Locks<Mutex> mutexes;
  Locks<RawLock> raw_locks;
  for (int i = 0; i < threads; ++i) {
    mutexes.push_back(std::make_unique<Mutex>(client, "bench-" + std::to_string(i)));
    raw_locks.push_back(std::make_unique<RawLock>(port, "raw-" + std::to_string(i)));
  }
  PipelinedScripts scripts(port);
  for (auto _ : state) {
    Figure figure = compare("16 threads, 16 locks, one client: pairs", "/s", rounds,
                            {{"holdfast", [&] { return pairs_per_second(mutexes); }},
                             {"redis-benchmark -P 16", [&] { return scripts.pairs_per_second(); }},
                             {"raw hiredis", [&] { return pairs_per_second(raw_locks); }}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = 0.7};
    figure.peers[1].aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = 1.5};
    report(state, figure);
  }
}
BENCHMARK(many_locks)->Name("threads with a lock each")->Iterations(1);

void one_lock(benchmark::State& state) {
  constexpr int rounds = 7;
  const test::RedisServer server;
  const int port = std::stoi(server.port());
  Client client(server.url());
  Locks<Mutex> mutexes;
  Locks<RawLock> raw_locks;
  Locks<BlpopLock> blpop_locks;
  for (int i = 0; i < threads; ++i) {
    mutexes.push_back(std::make_unique<Mutex>(client, "bench"));
    raw_locks.push_back(std::make_unique<RawLock>(port, "raw"));
    blpop_locks.push_back(std::make_unique<BlpopLock>(port, "blpop"));
  }
  blpop_locks[0]->create();
  Driver redis_py({"/usr/bin/python3", HOLDFAST_PEERS "/redis_py.py", server.port()});
  for (auto _ : state) {
    Figure figure = compare("16 threads, one lock, one client: hand-offs", "/s", rounds,
                            {{"holdfast", [&] { return changes_per_second(mutexes); }},
                             {"raw hiredis, spinning", [&] { return changes_per_second(raw_locks); }},
                             {"BLPOP, a limit", [&] { return changes_per_second(blpop_locks); }},
                             {"redis-py Lock", [&] { return redis_py.ask("relay 16 0.4"); }}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = 20};
    report(state, figure);
  }
}
BENCHMARK(one_lock)->Name("threads with one lock")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
