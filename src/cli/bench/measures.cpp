#include "cli/bench/measures.hpp"

#include <atomic>
#include <future>
#include <thread>

#include "cli/bench/latency_histogram.hpp"
#include "holdfast/error.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// How long one figure is measured.
struct Round {
  Clock::time_point end;
  std::stop_token stop;

  bool goes_on() const { return !stop.stop_requested() && Clock::now() < end; }
};

/// The lock, or an error: nobody keeps it for long, so who waits for long waits for the store.
Hold take(Mutex& mutex, const Round& round) {
  constexpr auto patience = std::chrono::seconds(10);
  std::optional<Hold> hold = mutex.try_acquire_for(patience, round.stop);
  if (!hold) throw Error(Errc::unreachable, "measuring: the store has not granted a free lock within 10s");
  return *std::move(hold);
}

LatencyHistogram pairs(Client& client, const LockName& name, const Round& round) {
  LatencyHistogram latencies;
  Mutex mutex(client, name);
  while (round.goes_on()) {
    const auto began = Clock::now();
    take(mutex, round).release();
    latencies.add(Clock::now() - began);
  }
  return latencies;
}

LatencyHistogram pairs_of_threads(Client& client, const std::string& prefix, int threads, const Round& round) {
  std::vector<std::future<LatencyHistogram>> results;
  results.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    results.push_back(std::async(std::launch::async, [&client, &round, name = prefix + std::to_string(i)] {
      return pairs(client, name, round);
    }));
  }
  LatencyHistogram latencies;
  for (std::future<LatencyHistogram>& result : results) latencies.add(result.get());
  return latencies;
}

/// What the holders of one lock leave for the next. Atomic although the lock guards it: not every store's answer orders
/// the memory of this process.
struct Baton {
  std::atomic<const Client*> last{nullptr};
  std::atomic<Clock::time_point> given_back{Clock::time_point()};
};

/// From before the release by the other client to the grant to this one. Whoever holds the lock keeps it until the
/// other one waits: on a busy machine it could else take it again and again, and hand nothing over.
LatencyHistogram hand_offs_from(const Client& other, Client& client, const LockName& name, Baton& baton,
                                const Round& round) {
  LatencyHistogram latencies;
  Mutex mutex(client, name);
  while (round.goes_on()) {
    Hold hold = take(mutex, round);
    const auto now = Clock::now();
    const Client* const last = baton.last.exchange(&client);
    if (last == &other) latencies.add(now - baton.given_back.load());
    while (other.health().waiting == 0 && round.goes_on()) std::this_thread::yield();
    baton.given_back = Clock::now();
    hold.release();
  }
  return latencies;
}

LatencyHistogram hand_offs(Client& client, Client& other, const LockName& name, const Round& round) {
  Baton baton;
  auto there = std::async(std::launch::async, [&] { return hand_offs_from(client, other, name, baton, round); });
  LatencyHistogram latencies = hand_offs_from(other, client, name, baton, round);
  latencies.add(there.get());
  return latencies;
}

LatencyHistogram refused_tries(Client& holder, const LockName& name, Client& other, const Round& round) {
  LatencyHistogram latencies;
  Mutex mutex(holder, name);
  Hold hold = take(mutex, round);
  Mutex wanted(other, name);
  while (round.goes_on()) {
    const auto began = Clock::now();
    if (wanted.try_acquire()) throw Error(Errc::lost, "measuring: a lock that is held was granted to somebody else");
    latencies.add(Clock::now() - began);
  }
  hold.release();
  return latencies;
}

}  // namespace

std::vector<BenchFigure> measure(Client& client, Client& other, const std::string& prefix,
                                 std::chrono::nanoseconds each, const std::stop_token& stop) {
  std::vector<BenchFigure> figures;
  const auto add = [&](const char* id, const char* title, auto measured) {
    const auto began = Clock::now();
    const LatencyHistogram latencies = measured(Round{.end = began + each, .stop = stop});
    if (stop.stop_requested()) throw Error(Errc::cancelled, "measuring: cancelled");
    const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    figures.push_back({.id = id,
                       .title = title,
                       .count = latencies.count(),
                       .per_second = static_cast<double>(latencies.count()) / seconds,
                       .p50 = latencies.percentile(50),
                       .p99 = latencies.percentile(99)});
  };
  // The first contact is not measured.
  for (Client* const each_client : {&client, &other}) Mutex(*each_client, prefix + "pair").acquire(stop).release();
  constexpr int threads = 8;
  add("pair", "acquire and release, one thread",
      [&](const Round& round) { return pairs(client, prefix + "pair", round); });
  add("pairs_8_threads", "acquire and release, 8 threads, a lock each",
      [&](const Round& round) { return pairs_of_threads(client, prefix + "thread-", threads, round); });
  add("hand_off", "hand-off to another client that waits",
      [&](const Round& round) { return hand_offs(client, other, prefix + "hand-off", round); });
  add("refused_try", "try of a lock that somebody holds",
      [&](const Round& round) { return refused_tries(client, prefix + "held", other, round); });
  return figures;
}

}  // namespace holdfast::cli
