#include <benchmark/benchmark.h>
#include <uuid/uuid.h>

#include <array>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "figures.hpp"
#include "holdfast/ids/uuid4.hpp"
#include "holdfast/ids/uuid7.hpp"
#include "ids/random_source.hpp"
#include "rates.hpp"
#include "uuid_peers.hpp"

// UUIDs that one thread makes, one by one and in batches, beside libuuid and Boost.

namespace holdfast::bench {
namespace {

using ids::Cipher;
using ids::Order;
using ids::Randomness;
using ids::Uuid;
using ids::Uuid4;
using ids::Uuid7;
using LibuuidId = std::array<unsigned char, 16>;

constexpr std::size_t batch_size = 1'000;

Aim at_least(double limit, Aim::Of of = Aim::Of::value) { return {.of = of, .is = Aim::Is::at_least, .limit = limit}; }

LibuuidId random_of_libuuid() {
  LibuuidId id;
  uuid_generate_random(id.data());
  return id;
}

LibuuidId time_of_libuuid() {
  LibuuidId id;
  uuid_generate_time(id.data());
  return id;
}

/// One figure without a peer: the median of its rounds.
template <class Round>
void report_rate(benchmark::State& state, const std::string& what, Round round, const std::optional<Aim>& aim = {}) {
  Figure figure = compare(what, "M/s", id_rounds, {{"Holdfast", round}});
  figure.aim = aim;
  report(state, figure);
}

void version_4(benchmark::State& state) {
  Uuid4 secure;
  Uuid4 fast(Randomness::fast);
  std::vector<Uuid> batch(batch_size);
  boost::uuids::random_generator_mt19937 mersenne;
  boost::uuids::random_generator kernel;
  for (auto _ : state) {
    Figure figure = compare("v4, next()", "M/s", id_rounds,
                            {{"Holdfast", [&] { return millions_per_second([&] { return secure.next(); }); }},
                             {"Boost 1.74, mt19937", [&] { return millions_per_second([&] { return mersenne(); }); }},
                             {"Boost 1.74", [&] { return millions_per_second([&] { return kernel(); }); }},
                             {"libuuid", [&] { return millions_per_second(random_of_libuuid); }}});
    for (Peer& peer : figure.peers) peer.aim = at_least(3, Aim::Of::ratio);
    report(state, figure);
    report_rate(state, "- fill(), 1,000 at once",
                [&] { return millions_per_second_in(batch, [&](auto& all) { secure.fill(all); }); });
    report_rate(state, "- fast, next()", [&] { return millions_per_second([&] { return fast.next(); }); });
    report_rate(state, "- fast, fill(), 1,000 at once",
                [&] { return millions_per_second_in(batch, [&](auto& all) { fast.fill(all); }); });
  }
}
BENCHMARK(version_4)->Name("UUIDv4, one thread")->Iterations(1);

void version_7(benchmark::State& state) {
  Uuid7 by_process;
  Uuid7 by_thread({.order = Order::thread});
  Uuid7 fast({.order = Order::thread, .randomness = Randomness::fast});
  Uuid7 fastest({.order = Order::thread, .randomness = Randomness::fast, .ids_per_reading = 64});
  Uuid7 seldom({.order = Order::thread, .ids_per_reading = 64});
  std::vector<Uuid> batch(batch_size);
  const auto next = [](Uuid7& ids) { return millions_per_second([&] { return ids.next(); }); };
  const auto fill = [&](Uuid7& ids) { return millions_per_second_in(batch, [&](auto& all) { ids.fill(all); }); };
  const auto peer = [] {
    MicrosecondUuid7 ids;
    return millions_per_second([&] { return ids(); });
  };
  for (auto _ : state) {
    const bool has_aes = ids::current_cipher() == Cipher::aes;
    Figure figure = compare("v7, thread-ordered, next()", "M/s", id_rounds,
                            {{"Holdfast", [&] { return next(by_thread); }},
                             {"Boost 1.86's way", peer},
                             {"libuuid, v1", [&] { return millions_per_second(time_of_libuuid); }}});
    figure.aim = at_least(has_aes ? 120 : 80);
    report(state, figure);
    if (has_aes) {
      ids::use_cipher(Cipher::chacha);
      report_rate(state, "- with ChaCha12, as without AES", [&] { return next(by_thread); }, at_least(80));
      ids::use_cipher(Cipher::aes);
    }
    report_rate(state, "- fill(), 1,000 at once", [&] { return fill(by_thread); });
    report_rate(state, "- clock read for every 64th id", [&] { return next(seldom); });
    report_rate(state, "- fast", [&] { return next(fast); });
    report_rate(state, "- fast, clock read for every 64th id", [&] { return next(fastest); }, at_least(260));
    report_rate(state, "- fast, fill(), 1,000 at once", [&] { return fill(fast); }, at_least(260));
    report(state, compare("v7, process-ordered, next()", "M/s", id_rounds,
                          {{"Holdfast", [&] { return next(by_process); }}, {"Boost 1.86's way", peer}}));
    report_rate(state, "- fill(), 1,000 at once", [&] { return fill(by_process); });
  }
}
BENCHMARK(version_7)->Name("UUIDv7, one thread")->Iterations(1);

void several_threads(benchmark::State& state) {
  constexpr int rounds = 5;
  const auto measure = [&](const std::string& what, Uuid7& ids) {
    const auto of = [&](int threads) {
      return [&ids, threads] { return millions_per_second_of(threads, [&] { return ids.next(); }); };
    };
    for (const int threads : {2, 16}) {
      report(state, compare(what + ", " + std::to_string(threads) + " threads", "M/s", rounds,
                            {{"Holdfast", of(threads)}, {"one thread", of(1)}}));
    }
  };
  for (auto _ : state) {
    Uuid7 by_thread({.order = Order::thread});
    Uuid7 by_process;
    measure("v7, thread-ordered", by_thread);
    measure("v7, process-ordered", by_process);
  }
}
BENCHMARK(several_threads)->Name("UUIDv7, several threads")->Iterations(1)->UseRealTime();

void allocations(benchmark::State& state) {
  for (auto _ : state) {
    Uuid4 version_4;
    Uuid7 by_process;
    Uuid7 by_thread({.order = Order::thread});
    benchmark::DoNotOptimize(version_4.next());
    const std::uint64_t before = allocations_of_this_thread();
    for (int i = 0; i < 100'000; ++i) {
      benchmark::DoNotOptimize(version_4.next());
      benchmark::DoNotOptimize(by_process.next());
      benchmark::DoNotOptimize(by_thread.next());
    }
    const std::uint64_t allocated = allocations_of_this_thread() - before;
    report(state,
           {.what = "allocations for 300,000 ids", .value = static_cast<double>(allocated), .aim = Aim{.limit = 1}});
  }
}
BENCHMARK(allocations)->Name("heap of UUIDs")->Iterations(1);

}  // namespace
}  // namespace holdfast::bench
