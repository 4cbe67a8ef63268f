// Many who want the same several locks, in any order, of any store.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::ChildReport;
using test::eventually;
using test::ForkedChild;

/// A number that two who add to it at once damage.
class FragileCounter {
 public:
  void add() {
    const int before = value_.load();
    std::this_thread::yield();
    value_ = before + 1;
  }
  int value() const { return value_; }

 private:
  std::atomic<int> value_ = 0;
};

// What the counting below would notice.
TEST(FragileCounterControl, IsDamagedWithoutALock) {
  const bool damaged = eventually([] {
    FragileCounter counter;
    {
      std::vector<std::jthread> threads;
      for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
          for (int round = 0; round < 2000; ++round) counter.add();
        });
      }
    }
    return counter.value() != 8000;
  });
  EXPECT_TRUE(damaged);
}

// ML5
TEST_P(MultiLockConformance, OppositeOrdersNeitherDeadlockNorMiscount) {
  const int rounds = can().quick ? 25 : 8;
  Client first = open();
  Client second = open();
  FragileCounter counter;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        std::vector<LockName> names = {"a", "b", "c"};
        if (number % 2 == 0) std::ranges::reverse(names);
        MultiLock lock(number < 4 ? first : second, names);
        for (int round = 0; round < rounds; ++round) {
          const std::scoped_lock all(lock);
          counter.add();
        }
      });
    }
  }
  EXPECT_EQ(counter.value(), 8 * rounds);
}

// ML5: who wants overlapping sets.
TEST_P(MultiLockConformance, NeighboursAtARoundTableAllEat) {
  constexpr std::size_t seats = 5;
  Client first = open();
  Client second = open();
  std::vector<std::atomic<int>> forks(seats);
  std::atomic<bool> shared = false;
  std::atomic<int> meals = 0;
  {
    std::vector<std::jthread> threads;
    for (std::size_t seat = 0; seat < seats; ++seat) {
      threads.emplace_back([&, seat] {
        const std::size_t left = seat;
        const std::size_t right = (seat + 1) % seats;
        MultiLock lock(seat % 2 == 0 ? first : second,
                       {"fork/" + std::to_string(left), "fork/" + std::to_string(right)});
        for (int round = 0; round < 15; ++round) {
          const std::scoped_lock both(lock);
          for (const std::size_t fork : {left, right}) shared = forks.at(fork).fetch_add(1) != 0 || shared;
          std::this_thread::yield();
          for (const std::size_t fork : {left, right}) forks.at(fork).fetch_sub(1);
          ++meals;
        }
      });
    }
  }
  EXPECT_FALSE(shared);
  EXPECT_EQ(meals, static_cast<int>(seats) * 15);
}

// ML5, with processes: the number is in the store, read and written in two steps.
TEST_P(SharedStoreConformance, MultiLocksOfOppositeOrderCountInSeveralProcesses) {
  constexpr int rounds = 20;
  std::vector<ForkedChild> children;
  for (int number = 0; number < 4; ++number) {
    children.emplace_back([&, number](ChildReport& report) {
      Client client(url());
      std::vector<LockName> names = {"a", "b", "c"};
      if (number % 2 == 0) std::ranges::reverse(names);
      MultiLock lock(client, names);
      Register counter(client, "counter");
      for (int round = 0; round < rounds; ++round) {
        const auto hold = lock.try_acquire_for(test::patience);
        report.expect(hold.has_value(), "all are had in time");
        if (!hold) return;
        const std::string before = counter.get().value;
        counter.set(std::to_string(before.empty() ? 1 : std::stoi(before) + 1));
      }
    });
  }
  for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
  Client client = open();
  EXPECT_EQ(Register(client, "counter").get().value, std::to_string(4 * rounds));
}

// ML7, with a process: all locks of one who dies come free.
TEST_P(SharedStoreConformance, TheLocksOfAKilledMultiHoldComeFree) {
  ForkedChild holder([&](ChildReport& report) {
    Client client(url());
    const MultiHold hold = MultiLock(client, {"a", "b"}, {.ttl = short_ttl()}).acquire();
    Register(client, "held").set("yes");
    report.wait_to_be_killed();
  });
  Client client = open();
  ASSERT_TRUE(Register(client, "held").wait_for_change_for(0, test::patience));
  MultiLock lock(client, {"b", "a"});
  EXPECT_FALSE(lock.try_acquire());
  holder.kill();
  EXPECT_TRUE(lock.try_acquire_for(test::patience));
}

/// Two stores, the second of which may be of another kind than the first.
class TwoStores {
 public:
  explicit TwoStores(std::string first, std::string second) : first_(std::move(first)), second_(std::move(second)) {}

  /// Locks in both, by clients of their own, the first or the second store's first.
  struct Pair {
    Pair(const TwoStores& stores, bool reversed)
        : one(stores.first_, {.connect_timeout = test::patience}),
          two(stores.second_, {.connect_timeout = test::patience}),
          lock(parts(one, two, reversed)) {}
    static std::vector<MultiLock::Part> parts(Client& one, Client& two, bool reversed) {
      std::vector<MultiLock::Part> parts = {{one, "x"}, {two, "y"}, {one, "z"}, {two, "z"}};
      if (reversed) std::ranges::reverse(parts);
      return parts;
    }
    Client one;
    Client two;
    MultiLock lock;
  };

 private:
  std::string first_;
  std::string second_;
};

/// Counts under locks of both stores, by several pairs of clients that want them in opposite order.
void count_in_both(const TwoStores& stores) {
  constexpr int rounds = 6;
  FragileCounter counter;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 4; ++number) {
      threads.emplace_back([&, number] {
        TwoStores::Pair pair(stores, number % 2 == 0);
        for (int round = 0; round < rounds; ++round) {
          const std::scoped_lock all(pair.lock);
          counter.add();
        }
      });
    }
  }
  EXPECT_EQ(counter.value(), 4 * rounds);
}

// ML10
TEST_P(MultiLockConformance, CountsUnderLocksOfTwoStores) {
  const auto second = GetParam()->make();
  count_in_both(TwoStores(url(), second->url()));
}

// ML10
TEST_P(MultiLockConformance, CountsUnderLocksOfDifferentKindsOfStores) {
  count_in_both(TwoStores(url(), "memory:conformance-elsewhere-" + std::to_string(getpid())));
}

// ML10: ML1, ML7 and ML8 in two stores.
TEST_P(MultiLockConformance, TakesAllOrNoneOfTwoStores) {
  const auto second = GetParam()->make();
  const TwoStores stores(url(), second->url());
  TwoStores::Pair mine(stores, false);
  TwoStores::Pair other(stores, true);
  Hold busy = Mutex(other.two, "y").acquire();
  EXPECT_FALSE(mine.lock.try_acquire());
  EXPECT_TRUE(test::is_not_granted([&] { return mine.lock.try_acquire_for(300ms); }));
  for (const char* name : {"x", "z"}) EXPECT_TRUE(becomes_free(other.one, name));
  EXPECT_TRUE(becomes_free(other.two, "z"));
  Background waiter([&](std::stop_token stop) { return mine.lock.acquire(stop); });
  ASSERT_TRUE(line_becomes(other.two, "y", 1));
  EXPECT_FALSE(waiter.finished());
  busy.release();
  const MultiHold hold = waiter.take();
  EXPECT_EQ(hold.tokens().size(), 4u);
  EXPECT_FALSE(other.lock.try_acquire());
  ASSERT_TRUE(other.one.evict("z"));
  EXPECT_TRUE(eventually([&] { return hold.stop_token().stop_requested(); }));
  EXPECT_TRUE(becomes_free(other.two, "y")) << "what is in the other store is given back";
  EXPECT_TRUE(other.lock.try_acquire_for(test::patience));
}

// ML10
TEST_P(MultiLockConformance, OneClosedClientOfTwoEndsTheWait) {
  const auto second = GetParam()->make();
  const TwoStores stores(url(), second->url());
  TwoStores::Pair mine(stores, false);
  TwoStores::Pair other(stores, false);
  const Hold busy = Mutex(other.two, "y").acquire();
  Background waiter([&](std::stop_token stop) { return mine.lock.acquire(stop); });
  ASSERT_TRUE(line_becomes(other.two, "y", 1));
  mine.two.close();
  EXPECT_EQ(waiter.error(), Errc::closed);
  for (const char* name : {"x", "z"}) EXPECT_TRUE(becomes_free(other.one, name));
}

}  // namespace
}  // namespace holdfast::conformance
