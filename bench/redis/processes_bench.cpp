#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "redis/contenders.hpp"
#include "rounds.hpp"
#include "support/room.hpp"
#include "turns.hpp"

// Sixteen processes and one lock.

namespace holdfast::bench {
namespace {

constexpr int processes = 16;

struct Outcome {
  double per_second = 0;
  std::vector<double> latencies = {};
};

/// Processes that do nothing but take the lock and let it go.
template <class Lock>
Outcome run(const test::RedisServer& server) {
  constexpr std::chrono::milliseconds warm_up{100};
  constexpr std::chrono::milliseconds duration{700};
  const test::SharedWithChildren<Turns> turns;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();
    if (child > 0) children.push_back(child);
    if (child != 0) continue;
    {
      Lock lock(server);
      ++turns->ready;
      while (!turns->begun) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      while (!turns->over) {
        lock.lock();
        turns->taken_by(i);
        turns->about_to_release();
        lock.unlock();
      }
    }
    ::_exit(0);
  }
  Lock first(server);
  while (turns->ready < processes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  first.create();
  turns->begun = true;
  const double per_second = turns->changes_per_second(warm_up, duration);
  turns->over = true;
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  server.command({"FLUSHALL"});
  return {per_second, turns->latencies()};
}

void one_lock(benchmark::State& state) {
  constexpr int rounds = 7;
  const test::RedisServer server;
  for (auto _ : state) {
    std::vector<double> ours;
    std::vector<double> limits;
    const auto add = [](std::vector<double>& all, const Outcome& outcome) {
      all.insert(all.end(), outcome.latencies.begin(), outcome.latencies.end());
      return outcome.per_second;
    };
    Figure figure = compare("16 processes, one lock: hand-offs", "/s", rounds,
                            {{"holdfast", [&] { return add(ours, run<OurContender>(server)); }},
                             {"BLPOP, a limit", [&] { return add(limits, run<BlpopContender>(server)); }}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::at_least, .limit = 0.6};
    report(state, figure);
    for (const double percent : {50.0, 99.0}) {
      const double a = percentile(ours, percent);
      const double b = percentile(limits, percent);
      report(state, {.what = "- a hand-off, p" + std::to_string(static_cast<int>(percent)),
                     .value = a,
                     .unit = "us",
                     .peers = {{"BLPOP, a limit", b, a / b}}});
    }
  }
}
BENCHMARK(one_lock)->Name("processes with one lock")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
