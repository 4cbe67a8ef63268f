#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver.hpp"
#include "holdfast/holdfast.hpp"
#include "rounds.hpp"
#include "store/store.hpp"
#include "threads.hpp"

// Sixteen threads of one process, which have one client.

namespace holdfast::bench {
namespace {

constexpr int threads = 16;
constexpr int rounds = 9;
constexpr std::chrono::milliseconds round_length{800};

/// Holdfast, and the peer if it was asked for, which is given a round to get warm.
template <class Ours>
Figure beside_peer(const std::string& what, const std::string& mode, double aim, Ours ours) {
  std::vector<Contender> contenders = {{"holdfast", ours}};
  std::optional<Driver> peer;
  if (const auto command = store().peer_command()) {
    peer.emplace(*command);
    peer->ask(mode + " 4");
    contenders.push_back({store().peer, [&] { return peer->ask(mode + " 0.8"); }});
  }
  Figure figure = compare(what, "/s", rounds, contenders);
  if (peer) figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = aim};
  return figure;
}

void many_locks(benchmark::State& state) {
  Client client(store().url);
  Locks<Mutex> mutexes;
  for (int i = 0; i < threads; ++i) {
    mutexes.push_back(std::make_unique<Mutex>(client, "bench-" + std::to_string(i)));
  }
  for (auto _ : state) {
    report(state, beside_peer("16 threads, 16 locks, one client: pairs", "spread", store().spread_to_peer,
                              [&] { return pairs_per_second(mutexes, round_length); }));
  }
}
BENCHMARK(many_locks)->Name("threads with a lock each")->Iterations(1);

void one_lock(benchmark::State& state) {
  Client client(store().url);
  Locks<Mutex> mutexes;
  for (int i = 0; i < threads; ++i) mutexes.push_back(std::make_unique<Mutex>(client, "bench-one"));
  for (auto _ : state) {
    std::vector<double> fairness;
    const auto ours = [&] {
      const Relay relay = relay_through(mutexes, round_length);
      fairness.push_back(evenness(relay.turns));
      return relay.inside_per_second();
    };
    report(state, beside_peer("16 threads, one lock, one client: hand-offs", "one", 20, ours));
    report(state, {.what = "- turns of the unluckiest, beside the average",
                   .value = median(fairness),
                   .aim = Aim{.is = Aim::Is::at_least, .limit = 0.8}});
  }
}
BENCHMARK(one_lock)->Name("threads with one lock")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
