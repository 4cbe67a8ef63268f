#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "holdfast/error.hpp"
#include "holdfast/ids/uuid7.hpp"
#include "ids/uuid7_place.hpp"
#include "ids_collected.hpp"

namespace holdfast::ids {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using Time = std::chrono::sys_time<milliseconds>;

/// The clock that generators are given.
struct FakeClock {
  static inline std::atomic<std::int64_t> value = 0;
  static Time now() noexcept { return Time(milliseconds(value)); }
  static void set(Time time) { value = time.time_since_epoch().count(); }
};

constexpr Time noon = std::chrono::sys_days(std::chrono::year(2026) / 6 / 1) + hours(12);

/// Runs `body` on a thread of its own, because a thread-ordered generator continues what its thread has made before.
void on_a_new_thread(const std::function<void()>& body) { std::jthread(body).join(); }

bool rises(const std::vector<Uuid>& ids) {
  return std::adjacent_find(ids.begin(), ids.end(), [](const Uuid& a, const Uuid& b) { return a >= b; }) == ids.end();
}

/// Each case with either order and either source.
class Uuid7s : public testing::TestWithParam<std::pair<Order, Randomness>> {
 protected:
  Uuid7Options options() const { return {.order = GetParam().first, .randomness = GetParam().second}; }
  Uuid7Options options_on_fake_clock() const {
    Uuid7Options options = this->options();
    options.now = FakeClock::now;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(, Uuid7s,
                         testing::Values(std::pair(Order::process, Randomness::secure),
                                         std::pair(Order::thread, Randomness::secure),
                                         std::pair(Order::process, Randomness::fast),
                                         std::pair(Order::thread, Randomness::fast)),
                         [](const auto& tested) {
                           return std::string(to_string(tested.param.first)) +
                                  (tested.param.second == Randomness::secure ? "_secure" : "_fast");
                         });

TEST_P(Uuid7s, HaveVersionVariantAndTheTimeOfNow) {
  Uuid7 ids(options());
  constexpr milliseconds tick(20);  // the coarse clock is up to 10 ms behind
  for (int i = 0; i < 10'000; ++i) {
    const auto before = std::chrono::system_clock::now();
    const Uuid id = ids.next();
    ASSERT_EQ(id.version(), 7);
    ASSERT_GE(*id.time(), before - tick);
    ASSERT_LE(*id.time(), std::chrono::system_clock::now() + tick);
  }
}

TEST_P(Uuid7s, RiseAcrossNextAndFill) {
  Uuid7 ids(options());
  std::vector<Uuid> all;
  for (const std::size_t size : {1U, 0U, 3U, 100U, 4'096U, 4'097U, 30'000U}) {
    std::vector<Uuid> some(size);
    ids.fill(some);
    all.insert(all.end(), some.begin(), some.end());
    all.push_back(ids.next());
  }
  EXPECT_TRUE(rises(all));
}

TEST_P(Uuid7s, BeginEachMillisecondAtARandomCount) {
  on_a_new_thread([&] {
    Uuid7 ids(options_on_fake_clock());
    std::array<int, uuid7_place::counter_bits> ones{};
    constexpr int count = 4'000;
    for (int i = 0; i < count; ++i) {
      FakeClock::set(noon + milliseconds(i));
      const Uuid id = ids.next();
      ASSERT_EQ(id.time(), noon + milliseconds(i));
      const std::uint64_t counter = uuid7_place::counter(uuid7_place::of(id));
      for (std::size_t bit = 0; bit < ones.size(); ++bit) ones[bit] += static_cast<int>(counter >> bit & 1);
    }
    EXPECT_EQ(ones.back(), 0) << "half of the counter is left to count on";
    for (std::size_t bit = 0; bit + 1 < ones.size(); ++bit) {
      EXPECT_NEAR(ones[bit], count / 2, 253) << bit;  // 8 standard deviations of 32
    }
  });
}

TEST_P(Uuid7s, HaveFreshRandomBitsInEachId) {
  on_a_new_thread([&] {
    FakeClock::set(noon);
    Uuid7 ids(options_on_fake_clock());
    std::array<int, 54> ones{};
    constexpr int count = 20'000;
    for (int i = 0; i < count; ++i) {
      const Uuid id = ids.next();
      for (std::size_t bit = 0; bit < ones.size(); ++bit) ones[bit] += static_cast<int>(id.low() >> bit & 1);
    }
    for (std::size_t bit = 0; bit < ones.size(); ++bit) EXPECT_NEAR(ones[bit], count / 2, 566) << bit;
  });
}

TEST_P(Uuid7s, RiseWhenTheClockIsSetBackAndFollowItOnceItHasCaughtUp) {
  on_a_new_thread([&] {
    FakeClock::set(noon);
    Uuid7 ids(options_on_fake_clock());
    std::vector<Uuid> all = {ids.next()};
    for (const auto back :
         {milliseconds(1), milliseconds(1'000), milliseconds(hours(1)), milliseconds(hours(500'000))}) {
      FakeClock::set(noon - back);
      for (int i = 0; i < 1'000; ++i) all.push_back(ids.next());
      EXPECT_EQ(all.back().time(), noon);
    }
    FakeClock::set(noon);
    all.push_back(ids.next());
    EXPECT_EQ(all.back().time(), noon);
    FakeClock::set(noon + milliseconds(1));
    all.push_back(ids.next());
    EXPECT_EQ(all.back().time(), noon + milliseconds(1));
    EXPECT_TRUE(rises(all));
  });
}

TEST_P(Uuid7s, RiseWhenTheCounterIsUsedUp) {
  on_a_new_thread([&] {
    FakeClock::set(noon);
    Uuid7 ids(options_on_fake_clock());
    std::vector<Uuid> all(3 * uuid7_place::counters);  // at least 2 further milliseconds, at most 6
    ids.fill(all);
    EXPECT_TRUE(rises(all));
    EXPECT_EQ(all.front().time(), noon);
    EXPECT_GE(*all.back().time(), noon + milliseconds(2));
    EXPECT_LE(*all.back().time(), noon + milliseconds(6));
    const Uuid next = ids.next();
    EXPECT_GT(next, all.back());
    FakeClock::set(noon + hours(1));
    EXPECT_EQ(ids.next().time(), noon + hours(1));
  });
}

TEST_P(Uuid7s, RiseBeforeTheClockHasBeenSet) {
  on_a_new_thread([&] {
    FakeClock::set(Time(milliseconds(-5)));
    Uuid7 ids(options_on_fake_clock());
    std::vector<Uuid> all;
    for (int i = 0; i < 10; ++i) {
      FakeClock::set(Time(milliseconds(i - 5)));
      all.push_back(ids.next());
    }
    EXPECT_TRUE(rises(all));
    EXPECT_EQ(all.back().time(), Time(milliseconds(4)));
  });
}

TEST_P(Uuid7s, EndWithAnErrorInsteadOfAnOldTime) {
  on_a_new_thread([&] {
    const Time last(milliseconds(uuid7_place::end_milliseconds - 1));
    FakeClock::set(last);
    Uuid7 ids(options_on_fake_clock());
    std::vector<Uuid> all;
    std::optional<Errc> ended;
    while (!ended) {
      try {
        all.push_back(ids.next());
      } catch (const Error& error) {
        ended = error.errc();
      }
    }
    EXPECT_EQ(ended, Errc::end_of_life);
    EXPECT_TRUE(rises(all));
    EXPECT_GE(all.size(), uuid7_place::counters / 2);
    EXPECT_LT(all.size(), uuid7_place::counters);
    EXPECT_EQ(all.back().time(), last);
    std::array<Uuid, 10> more;
    FakeClock::set(last + milliseconds(1));
    EXPECT_THROW(ids.fill(more), Error);
    EXPECT_THROW(ids.next(), Error);
    EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(last), ids.traits().ends);
  });
}

TEST_P(Uuid7s, DifferAfterAFork) {
  Uuid7 ids(options());
  EXPECT_EQ(test::repeats_after_forks([&] { return ids.next(); }), 0U);
}

TEST_P(Uuid7s, DoNotEvenShareTheirCountersAfterAFork) {
  // On a clock that stands still, the counters of parent and child would run side by side if both continued the same one.
  on_a_new_thread([&] {
    FakeClock::set(noon);
    Uuid7 ids(options_on_fake_clock());
    ids.next();
    const test::SharedIds of_child(2);
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(holdfast::test::succeeds_in_forked_child(
          [&](holdfast::test::ChildReport&) { of_child.all()[static_cast<std::size_t>(i % 2)] = ids.next(); }));
    }
    // Of 19 bits: the same by chance once in half a million.
    EXPECT_NE(uuid7_place::of(of_child.all()[0]), uuid7_place::of(of_child.all()[1]));
    EXPECT_NE(uuid7_place::of(of_child.all()[0]), uuid7_place::of(ids.next()));
  });
}

TEST_P(Uuid7s, SayWhatTheyPromise) {
  const Traits traits = Uuid7(options()).traits();
  EXPECT_EQ(traits.kind, "uuid7");
  EXPECT_EQ(traits.order, GetParam().first);
  EXPECT_TRUE(traits.carries_time);
  EXPECT_EQ(std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(*traits.ends)).year(),
            std::chrono::year(2527));
}

TEST_P(Uuid7s, DifferAmongTenMillion) {
  std::vector<Uuid> ids(10'000'000);
  Uuid7 generator(options());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const auto mine = std::span(ids).subspan(i * 2'500'000, 2'500'000);
      generator.fill(mine.first(1'500'000));
      for (Uuid& id : mine.subspan(1'500'000)) id = generator.next();
    });
  }
  threads.clear();
  EXPECT_EQ(test::repeats_in(ids), 0U);
}

/// How many ids were not above all that had been returned, on whatever thread, before they were asked for.
std::size_t out_of_order(Uuid7& ids) {
  std::atomic<std::uint64_t> latest = 0;
  std::atomic<std::size_t> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int made = 0; made < 100'000; ++made) {
        std::uint64_t before = latest.load();
        const std::uint64_t place = uuid7_place::of(ids.next());
        if (place <= before) ++wrong;
        while (before < place && !latest.compare_exchange_weak(before, place)) {
        }
      }
    });
  }
  threads.clear();
  return wrong;
}

TEST(Uuid7, RisesAcrossThreadsIfItIsProcessOrdered) {
  Uuid7 ids;
  EXPECT_EQ(out_of_order(ids), 0U);
}

TEST(Uuid7, RisesAcrossThreadsWhileTheClockIsSetBack) {
  FakeClock::set(noon);
  Uuid7 ids({.now = FakeClock::now});
  std::jthread clock([](const std::stop_token& stop) {
    for (std::int64_t i = 0; !stop.stop_requested(); ++i) FakeClock::set(noon + milliseconds(i * 7919 % 1'000));
  });
  EXPECT_EQ(out_of_order(ids), 0U);
}

TEST(Uuid7, RisesWithEachHandOverBetweenTwoThreads) {
  Uuid7 ids;
  std::binary_semaphore ping(1);
  std::binary_semaphore pong(0);
  std::vector<Uuid> all;  // guarded by whose turn it is
  const auto take_turns = [&](std::binary_semaphore& mine, std::binary_semaphore& others) {
    for (int i = 0; i < 2'000; ++i) {
      mine.acquire();
      all.push_back(ids.next());
      others.release();
    }
  };
  std::jthread other([&] { take_turns(pong, ping); });
  take_turns(ping, pong);
  other.join();
  EXPECT_TRUE(rises(all));
}

// The control of the three above: what does not promise this order does not pass.
TEST(Uuid7, DoesNotRiseAcrossThreadsIfItIsThreadOrdered) {
  Uuid7 ids({.order = Order::thread});
  EXPECT_GT(out_of_order(ids), 0U);
}

TEST(Uuid7, RisesInEachThreadIfItIsThreadOrderedWhicheverGeneratorIsAsked) {
  std::vector<std::jthread> threads;
  std::atomic<int> rising = 0;
  Uuid7 shared({.order = Order::thread});
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Uuid7 own({.order = Order::thread, .randomness = Randomness::fast, .ids_per_reading = 64});
      std::vector<Uuid> all;
      for (int made = 0; made < 20'000; ++made) all.push_back(made % 3 == 0 ? own.next() : shared.next());
      rising += rises(all) ? 1 : 0;
    });
  }
  threads.clear();
  EXPECT_EQ(rising, 4);
}

TEST(Uuid7, ReadsTheClockAsOftenAsItIsTold) {
  on_a_new_thread([] {
    static int readings;
    readings = 0;
    Uuid7 ids({.order = Order::thread, .ids_per_reading = 64, .now = []() noexcept {
                 ++readings;
                 return noon + milliseconds(readings);
               }});
    for (int i = 1; i <= 64'000; ++i) {
      const Uuid id = ids.next();
      ASSERT_EQ(readings, (i + 63) / 64);
      ASSERT_EQ(id.time(), noon + milliseconds(readings));
    }
    std::vector<Uuid> some(64);
    ids.fill(some);
    EXPECT_EQ(readings, 1'001);
  });
}

TEST(Uuid7, RefusesOptionsThatItDoesNotHave) {
  const auto refused = [](const Uuid7Options& options) {
    try {
      const Uuid7 ids(options);
      return false;
    } catch (const Error& error) {
      return error.errc() == Errc::invalid_argument;
    }
  };
  EXPECT_TRUE(refused({.order = Order::none}));
  EXPECT_TRUE(refused({.order = Order::global}));
  EXPECT_TRUE(refused({.order = Order::thread, .ids_per_reading = 0}));
  EXPECT_TRUE(refused({.order = Order::thread, .ids_per_reading = 4'097}));
  EXPECT_TRUE(refused({.ids_per_reading = 2}));
  EXPECT_FALSE(refused({.order = Order::thread, .ids_per_reading = 4'096}));
}

TEST(Uuid7Place, ComposesWhatTheRfcLaysOut) {
  constexpr std::uint64_t place = std::uint64_t{0x017f22e279b0} << 20 | 0xcc3'60;
  constexpr Uuid uuid = uuid7_place::uuid(place, 0x1234'5678'9abc'def0);
  EXPECT_EQ(uuid.high(), 0x017f22e279b07cc3U);
  EXPECT_EQ(uuid.low(), 0x8000'0000'0000'0000U | std::uint64_t{0x60} << 54 | 0x1234'5678'9abc'def0U >> 10);
  EXPECT_EQ(uuid7_place::of(uuid), place);
}

}  // namespace
}  // namespace holdfast::ids
