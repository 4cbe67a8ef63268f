#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bare_fifo.hpp"
#include "holdfast/holdfast.hpp"
#include "relay.hpp"
#include "rounds.hpp"

// From one thread to the next: inside one client, while another client waits too, and between two clients.

namespace holdfast::bench {
namespace {

constexpr int rounds = 7;
constexpr std::chrono::milliseconds round_length{500};

/// `threads` threads of one client, each with a Mutex object of its own, and `others` threads of another client, on one
/// name.
Relay relay_between_clients(std::size_t threads, std::size_t others) {
  Client client("memory:relay");
  Client other("memory:relay");
  std::vector<std::unique_ptr<Mutex>> mutexes;
  std::vector<Runner<Mutex>> runners;
  for (std::size_t i = 0; i < threads + others; ++i) {
    const bool ours = i < threads;
    mutexes.push_back(std::make_unique<Mutex>(ours ? client : other, "bench/relay"));
    runners.push_back({mutexes.back().get(), ours ? 0 : 1});
  }
  return run_relay(runners, round_length);
}

/// The same with one lock of this process.
template <class Lock>
Relay relay_in_process(std::size_t threads, std::size_t others) {
  Lock lock;
  std::vector<Runner<Lock>> runners;
  for (std::size_t i = 0; i < threads + others; ++i) runners.push_back({&lock, i < threads ? 0 : 1});
  return run_relay(runners, round_length);
}

/// The peers have no other client: what that one costs counts against us.
void local_hand_over(benchmark::State& state) {
  const auto threads = static_cast<std::size_t>(state.range(0));
  std::vector<double> between;
  const auto ours = [&] {
    const Relay relay = relay_between_clients(threads, 1);
    between.push_back(relay.between_per_second());
    return relay.inside_per_second();
  };
  for (auto _ : state) {
    Figure figure =
        compare("hand-overs inside the client", "/s", rounds,
                {{"holdfast", ours},
                 {"bare FIFO", [&] { return relay_in_process<BareFifo>(threads, 0).inside_per_second(); }},
                 {"std::mutex, unfair", [&] { return relay_in_process<std::mutex>(threads, 0).inside_per_second(); }}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = 0.7};
    report(state, figure);
    report(state, {.what = "- meanwhile, to the other client and back", .value = median(between), .unit = "/s"});
  }
}
BENCHMARK(local_hand_over)->Name("local hand-over beside a second client, threads")->Arg(2)->Arg(16)->Iterations(1);

void hand_off(benchmark::State& state) {
  struct Kept {
    std::vector<double> p50;
    std::vector<double> p99;
    double keep(const Relay& relay) {
      p50.push_back(percentile(relay.latencies, 50) / 1000);
      p99.push_back(percentile(relay.latencies, 99) / 1000);
      return relay.between_per_second();
    }
  };
  Kept ours;
  Kept fifo;
  const auto latency = [](const std::string& what, const std::vector<double>& mine, const std::vector<double>& theirs) {
    const double a = median(mine);
    const double b = median(theirs);
    return Figure{.what = what, .value = a, .unit = "us", .peers = {{"bare FIFO", b, a / b}}};
  };
  for (auto _ : state) {
    report(state, compare("hand-offs", "/s", rounds,
                          {{"holdfast", [&] { return ours.keep(relay_between_clients(1, 1)); }},
                           {"bare FIFO", [&] { return fifo.keep(relay_in_process<BareFifo>(1, 1)); }}}));
    report(state, latency("- latency, p50", ours.p50, fifo.p50));
    report(state, latency("- latency, p99", ours.p99, fifo.p99));
  }
}
BENCHMARK(hand_off)->Name("hand-off between two clients, a thread each")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
