// Who is next.

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::Recorder;

/// Clients that wait for one lock, one call each, and write down who was granted it, in that order.
class Line {
 public:
  Line(std::string url, std::string name) : url_(std::move(url)), name_(std::move(name)) {}

  void join() {
    const int number = static_cast<int>(waiters_.size());
    Client& client = clients_.emplace_back(url_);
    waiters_.emplace_back([this, &client, number](std::stop_token stop) {
      const Hold hold = Mutex(client, name_).acquire(stop);
      served_.add(number);
    });
  }
  void leave(std::size_t number) {
    waiters_[number].cancel();
    EXPECT_EQ(waiters_[number].error(), Errc::cancelled);
  }
  bool serves(std::size_t count) const { return served_.reaches(count); }
  std::vector<int> served() const { return served_.all(); }

 private:
  std::string url_;
  LockName name_;
  Recorder<int> served_;
  std::deque<Client> clients_;
  std::deque<Background<void>> waiters_;
};

// M20
TEST_P(FifoConformance, ClientsAreServedInTheOrderInWhichTheyCame) {
  Client client = open();
  Hold hold = Mutex(client, "line").acquire();
  Line line(url(), "line");
  for (std::size_t number = 0; number < 8; ++number) {
    line.join();
    ASSERT_TRUE(line_becomes(client, "line", number + 1));
  }
  hold.release();
  ASSERT_TRUE(line.serves(8));
  EXPECT_EQ(line.served(), (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

// M20, M47: the listing is the line.
TEST_P(FifoConformance, TheListingShowsWaitersInTheOrderInWhichTheyWillBeServed) {
  Client client = open();
  const Hold hold = Mutex(client, "line").acquire();
  std::deque<Client> clients;
  std::deque<Background<Hold>> waiters;
  for (std::size_t number = 0; number < 4; ++number) {
    Client& next = clients.emplace_back(url(), ClientOptions{.label = std::to_string(number)});
    waiters.emplace_back([&next](std::stop_token stop) { return Mutex(next, "line").acquire(stop); });
    ASSERT_TRUE(line_becomes(client, "line", number + 1));
  }
  const LockStatus status = client.show("line").value();
  for (std::size_t number = 0; number < 4; ++number) {
    EXPECT_EQ(status.waiters[number].client.label, std::to_string(number));
    EXPECT_EQ(status.waiters[number].client.id, clients[number].identity().id);
  }
}

// M21
TEST_P(FifoConformance, ThoseWhoLeaveTheLineDoNotChangeTheOrderOfTheOthers) {
  Client client = open();
  Hold hold = Mutex(client, "line").acquire();
  Line line(url(), "line");
  for (std::size_t number = 0; number < 6; ++number) {
    line.join();
    ASSERT_TRUE(line_becomes(client, "line", number + 1));
  }
  line.leave(0);
  line.leave(3);
  line.leave(5);
  ASSERT_TRUE(line_becomes(client, "line", 3));
  hold.release();
  ASSERT_TRUE(line.serves(3));
  EXPECT_EQ(line.served(), (std::vector{1, 2, 4}));
}

// M21: they leave at the same moment as the holder.
TEST_P(MutexConformance, NobodyIsForgottenWhenOthersLeaveTheLine) {
  Client client = open();
  for (test::Rounds rounds(20); rounds.next();) {
    Hold hold = Mutex(client, "line").acquire();
    Client leaving = open();
    Client staying = open();
    Background first([&](std::stop_token stop) { return Mutex(leaving, "line").acquire(stop); });
    ASSERT_TRUE(line_becomes(client, "line", 1));
    Background second([&](std::stop_token stop) { return Mutex(staying, "line").acquire(stop); });
    ASSERT_TRUE(line_becomes(client, "line", 2));
    first.cancel();
    hold = {};
    if (!first.error()) static_cast<void>(first.take());  // it was faster
    EXPECT_TRUE(second.take().valid());
  }
}

// M20, for stores that promise no order: at least everybody is served.
TEST_P(MutexConformance, EverybodyInTheLineIsServed) {
  Client client = open();
  Hold hold = Mutex(client, "line").acquire();
  Line line(url(), "line");
  for (int number = 0; number < 6; ++number) line.join();
  ASSERT_TRUE(line_becomes(client, "line", 6));
  hold.release();
  EXPECT_TRUE(line.serves(6));
  EXPECT_TRUE(becomes_free(client, "line"));
}

// The line inside a client is ours, whatever the store promises.
TEST_P(MutexConformance, ThreadsOfOneClientAreServedInTheOrderInWhichTheyCame) {
  Client client = open();
  Mutex mutex(client, "line");
  Recorder<int> served;
  Hold hold = mutex.acquire();
  std::deque<Background<void>> waiters;
  for (int number = 0; number < 16; ++number) {
    waiters.emplace_back([&, number](std::stop_token stop) {
      const Hold mine = mutex.acquire(stop);
      served.add(number);
    });
    ASSERT_TRUE(waiting_becomes(client, static_cast<std::size_t>(number) + 1));
  }
  hold.release();
  ASSERT_TRUE(served.reaches(16));
  EXPECT_EQ(served.all(), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
}

TEST_P(MutexConformance, ManyWaitingThreadsAreOneWaiterToTheStore) {
  Client holder = open();
  Client client = open();
  Mutex mutex(client, "line");
  Hold hold = Mutex(holder, "line").acquire();
  std::deque<Background<void>> waiters;
  for (int number = 0; number < 20; ++number) {
    waiters.emplace_back([&](std::stop_token stop) { static_cast<void>(mutex.acquire(stop)); });
  }
  ASSERT_TRUE(waiting_becomes(client, 20));
  ASSERT_TRUE(line_becomes(holder, "line", 1));
  hold.release();
  for (const auto& waiter : waiters) EXPECT_EQ(waiter.error(), std::nullopt);
}

// A client whose threads hand the lock to each other without end still lets others have it.
TEST_P(MutexConformance, LocalTurnsDoNotStarveOtherClients) {
  Client busy = open();
  Client other = open();
  Mutex mutex(busy, "popular");
  std::atomic<bool> enough = false;
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      while (!enough) {
        const std::scoped_lock lock(mutex);
        // Never lets go before the next one waits, so there is always somebody to hand over to.
        test::eventually([&] { return enough || busy.health().waiting > 0; });
      }
    });
  }
  Mutex others(other, "popular");
  for (int round = 0; round < 10; ++round) {
    const auto turns = busy.health().local_turns;
    EXPECT_TRUE(test::eventually([&] { return busy.health().local_turns > turns + 20; }));
    const auto hold = others.try_acquire_for(test::patience);
    EXPECT_TRUE(hold) << "round " << round;
    if (!hold) break;
  }
  enough = true;
}

}  // namespace
}  // namespace holdfast::conformance
