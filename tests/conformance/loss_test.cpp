// Holds that are lost, and who hears of it.

#include <gtest/gtest.h>
#include <poll.h>

#include <functional>
#include <memory>
#include <thread>

#include "conformance/fixture.hpp"
#include "support/descriptors.hpp"
#include "support/gate.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;
using test::eventually;
using test::is_readable;
using test::Recorder;

/// A hold and all the ways in which it says that it is lost.
class Listener {
 public:
  explicit Listener(Hold hold) : hold_(std::move(hold)), stop_(hold_.stop_token()), descriptor_(hold_.lost_fd()) {
    hold_.on_change([this](HoldState state) { states_.add(state); });
  }
  Hold& hold() { return hold_; }
  bool was_told() const { return stop_.stop_requested() || is_readable(descriptor_) || states_.size() > 0; }
  void expect_loss() {
    EXPECT_TRUE(eventually([&] { return hold_.state() == HoldState::lost; }));
    EXPECT_FALSE(hold_.valid());
    EXPECT_EQ(hold_.remaining(), 0ns);
    EXPECT_TRUE(eventually([&] { return stop_.stop_requested(); }));
    EXPECT_TRUE(eventually([&] { return is_readable(descriptor_); }));
    EXPECT_TRUE(eventually([&] { return states_.size() > 0 && states_.all().back() == HoldState::lost; }));
  }

 private:
  Recorder<HoldState> states_;
  Hold hold_;
  std::stop_token stop_;
  int descriptor_;
};

// M41, M48
TEST_P(HoldConformance, SaysInEveryWayThatItWasTakenAway) {
  Client client = open();
  Client operator_ = open();
  Listener listener(Mutex(client, "mine", {.ttl = steady_ttl()}).acquire());
  EXPECT_FALSE(listener.was_told());
  EXPECT_TRUE(operator_.evict("mine"));
  listener.expect_loss();
  EXPECT_EQ(client.health().lost, 1u);
  EXPECT_EQ(client.health().holds, 0u);
  client.close();
}

// M41
TEST_P(FixedLeaseConformance, SaysInEveryWayThatItHasEnded) {
  Client client = open();
  Listener listener(Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire());
  EXPECT_FALSE(listener.was_told());
  listener.expect_loss();
  EXPECT_EQ(client.health().lost, 1u);
  client.close();
}

TEST_P(HoldConformance, ItsDescriptorWakesAPoll) {
  Client client = open();
  Client operator_ = open();
  const Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  EXPECT_EQ(hold.lost_fd(), hold.lost_fd());
  std::jthread evictor([&] { EXPECT_TRUE(operator_.evict("mine")); });
  pollfd wanted = {.fd = hold.lost_fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&wanted, 1, static_cast<int>(test::patience.count())), 1);
  EXPECT_FALSE(hold.valid());
}

TEST_P(HoldConformance, ItsStopTokenRunsStopCallbacks) {
  Client client = open();
  Client operator_ = open();
  test::Gate told;
  const Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  const std::stop_callback callback(hold.stop_token(), [&] {
    EXPECT_FALSE(hold.valid());
    told.open();
  });
  ASSERT_TRUE(operator_.evict("mine"));
  EXPECT_TRUE(told.wait());
}

// M42
TEST_P(HoldConformance, ACleanReleaseIsNoLoss) {
  Client client = open();
  Listener listener(Mutex(client, "mine").acquire());
  const std::stop_token stop = listener.hold().stop_token();
  EXPECT_EQ(listener.hold().release(), Released::released);
  client.close();  // all callbacks have run
  EXPECT_FALSE(listener.was_told());
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_EQ(listener.hold().state(), HoldState::released);
}

// M42
TEST_P(HoldConformance, DestroyingIsNoLoss) {
  Client client = open();
  Recorder<HoldState> states;
  Hold hold = Mutex(client, "mine").acquire();
  hold.on_change([&](HoldState state) { states.add(state); });
  const std::stop_token stop = hold.stop_token();
  hold = {};
  EXPECT_TRUE(becomes_free(client, "mine"));
  client.close();
  EXPECT_FALSE(stop.stop_requested());
  EXPECT_EQ(states.size(), 0u);
}

// M43
TEST_P(HoldConformance, SaysSoToThoseWhoAskLate) {
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  ASSERT_TRUE(operator_.evict("mine"));
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  Listener listener(std::move(hold));
  listener.expect_loss();
  client.close();
}

TEST_P(HoldConformance, TheLaterCallbackReplacesTheEarlier) {
  Client client = open();
  Client operator_ = open();
  Recorder<HoldState> earlier;
  Recorder<HoldState> later;
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  hold.on_change([&](HoldState state) { earlier.add(state); });
  hold.on_change([&](HoldState state) { later.add(state); });
  ASSERT_TRUE(operator_.evict("mine"));
  EXPECT_TRUE(later.reaches(1));
  client.close();
  EXPECT_EQ(earlier.size(), 0u);
  EXPECT_EQ(later.all(), std::vector{HoldState::lost});
}

TEST_P(HoldConformance, ACallbackMayBeTakenBack) {
  Client client = open();
  Client operator_ = open();
  Recorder<HoldState> states;
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  hold.on_change([&](HoldState state) { states.add(state); });
  hold.on_change({});
  ASSERT_TRUE(operator_.evict("mine"));
  ASSERT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  client.close();
  EXPECT_EQ(states.size(), 0u);
}

// M44: it is destroyed while it is being lost.
TEST_P(HoldConformance, MayBeDestroyedAtTheMomentOfItsLoss) {
  Client client = open();
  Client operator_ = open();
  Recorder<HoldState> states;
  Mutex mutex(client, "mine", {.ttl = steady_ttl()});
  for (int round = 0; round < 100; ++round) {
    auto hold = std::make_unique<Hold>(mutex.acquire());
    hold->on_change([&](HoldState state) { states.add(state); });
    hold->lost_fd();
    std::jthread evictor([&] { operator_.evict("mine"); });
    if (round % 2 == 0) std::this_thread::yield();
    hold.reset();
  }
  EXPECT_TRUE(becomes_free(operator_, "mine"));
  client.close();
  for (const HoldState state : states.all()) EXPECT_EQ(state, HoldState::lost);
}

// M44
TEST_P(HoldConformance, MayBeDestroyedByItsOwnCallback) {
  Client client = open();
  Client operator_ = open();
  test::Gate destroyed;
  std::mutex mutex;
  auto hold = std::make_unique<Hold>(Mutex(client, "mine", {.ttl = steady_ttl()}).acquire());
  hold->on_change([&](HoldState) {
    const std::scoped_lock lock(mutex);
    hold.reset();
    destroyed.open();
  });
  ASSERT_TRUE(operator_.evict("mine"));
  EXPECT_TRUE(destroyed.wait());
  client.close();
}

// M24
TEST_P(HoldConformance, MayBeReleasedTwice) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(hold.release(), Released::released);
  const Hold next = Mutex(other, "mine").acquire();
  EXPECT_EQ(hold.release(), Released::not_held);
  EXPECT_EQ(hold.state(), HoldState::released);
  EXPECT_TRUE(hold);
  EXPECT_TRUE(next.valid());
  EXPECT_EQ(other.show("mine").value().holders.size(), 1u);
}

// M25
TEST_P(HoldConformance, ALostHoldCannotReleaseItsSuccessor) {
  Client client = open();
  Client other = open();
  Hold old = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  ASSERT_TRUE(other.evict("mine"));
  const Hold current = Mutex(other, "mine").acquire();
  EXPECT_EQ(old.release(), Released::not_held);
  EXPECT_EQ(old.state(), HoldState::lost);
  old = {};
  EXPECT_TRUE(current.valid());
  const LockStatus status = client.show("mine").value();
  ASSERT_EQ(status.holders.size(), 1u);
  EXPECT_EQ(status.holders[0].client.id, other.identity().id);
}

// M25, inside one client
TEST_P(FixedLeaseConformance, AnEndedHoldCannotReleaseItsSuccessorInTheSameClient) {
  Client client = open();
  Hold old = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
  Background next([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop); });
  const Hold current = next.take();
  EXPECT_EQ(old.release(), Released::not_held);
  old = {};
  EXPECT_TRUE(current.valid());
  EXPECT_EQ(client.show("mine").value().holders.size(), 1u);
}

// M48
TEST_P(MutexConformance, BreakingALockServesTheNextWaiter) {
  Client client = open();
  Client operator_ = open();
  Client waiting = open();
  const Hold old = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  Background waiter([&](std::stop_token stop) { return Mutex(waiting, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(operator_, "mine", 1));
  EXPECT_TRUE(operator_.evict("mine"));
  const Hold hold = waiter.take();
  EXPECT_TRUE(hold.valid());
  EXPECT_GT(hold.token(), old.token());
  EXPECT_TRUE(eventually([&] { return old.state() == HoldState::lost; }));
}

// M48: also one of its own client.
TEST_P(MutexConformance, ALostHoldDoesNotBlockTheOtherThreadsOfItsClient) {
  Client client = open();
  Mutex mutex(client, "mine", {.ttl = steady_ttl()});
  const Hold old = mutex.acquire();
  Background waiter([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  EXPECT_TRUE(client.evict("mine"));
  const Hold hold = waiter.take();
  EXPECT_TRUE(hold.valid());
  EXPECT_GT(hold.token(), old.token());
  EXPECT_EQ(old.state(), HoldState::lost);
}

TEST_P(MutexConformance, BreakingAFreeLockBreaksNothing) {
  Client client = open();
  EXPECT_FALSE(client.evict("free"));
  EXPECT_FALSE(client.show("free").has_value());
  EXPECT_TRUE(Mutex(client, "free").try_acquire());
}

TEST_P(MutexConformance, AThreadThatLostTheLockUnlocksAndGoesOn) {
  Client client = open();
  Client other = open();
  Mutex mutex(client, "mine", {.ttl = steady_ttl()});
  mutex.lock();
  ASSERT_TRUE(other.evict("mine"));
  ASSERT_TRUE(eventually([&] { return mutex.hold().state() == HoldState::lost; }));
  {
    const auto next = Mutex(other, "mine").try_acquire_for(test::patience);
    ASSERT_TRUE(next);
    mutex.unlock();
    EXPECT_TRUE(next->valid());
    EXPECT_FALSE(mutex.try_lock());
  }
  ASSERT_TRUE(mutex.try_lock_for(test::patience));
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
}

// Dead is dead.
TEST_P(HoldConformance, NeverComesBackToLife) {
  Client client = open();
  Client operator_ = open();
  Mutex mutex(client, "mine", {.ttl = steady_ttl()});
  Hold old = mutex.acquire();
  ASSERT_TRUE(operator_.evict("mine"));
  ASSERT_TRUE(eventually([&] { return old.state() == HoldState::lost; }));
  const Hold current = mutex.acquire();
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 2; }));
  EXPECT_FALSE(old.valid());
  EXPECT_EQ(old.state(), HoldState::lost);
  EXPECT_TRUE(current.valid());
  EXPECT_EQ(operator_.show("mine").value().holders.size(), 1u);
}

}  // namespace
}  // namespace holdfast::conformance
