#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "redis/contenders.hpp"
#include "rounds.hpp"
#include "support/redis_server.hpp"
#include "turns.hpp"

// A crowd of clients that wait for one lock: how long it takes until each of them has had it.

namespace holdfast::bench {
namespace {

using std::chrono::milliseconds;

struct Drained {
  double milliseconds = 0;
  double hand_off = 0;  ///< microseconds, p50
};

/// Each client is a thread here, with connections of its own.
template <class Lock>
Drained drain(const test::RedisServer& server, int crowd) {
  const auto turns = std::make_unique<Turns>();
  Lock holder(server);
  holder.create();
  holder.lock();
  std::vector<std::unique_ptr<Lock>> locks;
  for (int i = 0; i < crowd; ++i) locks.push_back(std::make_unique<Lock>(server));
  std::chrono::steady_clock::time_point began;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < crowd; ++i) {
      threads.emplace_back([&turns = *turns, &lock = *locks[static_cast<std::size_t>(i)], i] {
        lock.lock();
        turns.taken_by(i);
        turns.about_to_release();
        lock.unlock();
      });
    }
    while (holder.waiting() < static_cast<std::size_t>(crowd)) std::this_thread::sleep_for(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(300));  // that they came is over
    began = std::chrono::steady_clock::now();
    turns->about_to_release();
    holder.unlock();
  }
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - began;
  const Drained drained{taken.count(), median(turns->latencies())};
  locks.clear();
  server.command({"FLUSHALL"});
  return drained;
}

void allow_many_descriptors() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void crowd(benchmark::State& state) {
  constexpr int rounds = 5;
  constexpr int many = 1000;
  constexpr int few = 10;
  allow_many_descriptors();
  const test::RedisServer server;
  for (auto _ : state) {
    std::vector<double> hand_offs;
    const auto ours = [&] {
      const Drained drained = drain<OurContender>(server, many);
      hand_offs.push_back(drained.hand_off);
      return drained.milliseconds;
    };
    Figure figure = compare(
        "1,000 waiting clients: until all have had it", "ms", rounds,
        {{"holdfast", ours}, {"BLPOP, a limit", [&] { return drain<BlpopContender>(server, many).milliseconds; }}});
    figure.aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = 2};
    report(state, figure);

    std::vector<double> among_few;
    for (int i = 0; i < 10 * rounds; ++i) among_few.push_back(drain<OurContender>(server, few).hand_off);
    const double a = median(hand_offs);
    const double b = median(among_few);
    report(state, {.what = "- a hand-off, p50",
                   .value = a,
                   .unit = "us",
                   .peers = {{"10 waiting", b, a / b}},
                   .aim = Aim{.of = Aim::Of::ratio, .is = Aim::Is::below, .limit = 1.5}});
  }
}
BENCHMARK(crowd)->Name("a crowd of waiting clients")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
