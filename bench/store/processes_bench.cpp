#include <benchmark/benchmark.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "rounds.hpp"
#include "store/crowd.hpp"
#include "store/store.hpp"

// Sixteen processes and one lock.

namespace holdfast::bench {
namespace {

constexpr int processes = 16;
constexpr int rounds = 7;
constexpr std::chrono::milliseconds round_length{1500};

/// What the rounds of one crowd have shown, but for the figure itself.
struct Kept {
  std::vector<double> p50 = {};
  std::vector<double> p99 = {};
  std::vector<double> evenness = {};

  double run(Crowd& crowd) {
    const Crowd::Outcome outcome = crowd.run(round_length);
    p50.push_back(percentile(outcome.latencies, 50) / 1000);
    p99.push_back(percentile(outcome.latencies, 99) / 1000);
    evenness.push_back(outcome.evenness);
    return outcome.per_second;
  }
};

void one_lock(benchmark::State& state) {
  // Programs of their own: a child that was only forked could not use gRPC.
  Crowd crowd({HOLDFAST_BENCH_CONTENDER, store().url}, processes);
  std::optional<Crowd> peers;
  if (const auto command = store().peer_command()) peers.emplace(*command, processes);
  for (auto _ : state) {
    Kept ours;
    Kept theirs;
    std::vector<Contender> contenders = {{"holdfast", [&] { return ours.run(crowd); }}};
    if (peers) {
      peers->run(std::chrono::seconds(4));  // to get warm
      contenders.push_back({store().peer, [&] { return theirs.run(*peers); }});
    }
    Figure figure = compare("16 processes, one lock: hand-offs", "/s", rounds, contenders);
    if (peers) figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = store().processes_to_peer};
    report(state, figure);

    const auto also = [&](const std::string& what, const std::string& unit, std::vector<double> Kept::* values) {
      Figure more{.what = what, .value = median(ours.*values), .unit = unit};
      if (peers) more.peers = {{store().peer, median(theirs.*values), more.value / median(theirs.*values)}};
      report(state, more);
    };
    also("- a hand-off, p50", "ms", &Kept::p50);
    also("- a hand-off, p99", "ms", &Kept::p99);
    also("- turns of the unluckiest, beside the average", "", &Kept::evenness);
  }
}
BENCHMARK(one_lock)->Name("processes with one lock")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
