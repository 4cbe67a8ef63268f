// A release that nobody waits for may be kept for a moment, in case an acquire follows that does both in one write.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "core/engine/cell.hpp"
#include "support/scripted_engine.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using spi::ClaimId;
using spi::Failure;

class KeptRelease : public testing::Test {
 protected:
  KeptRelease() { client.store->keeps_releases_for = 100us; }

  /// Takes the lock and gives it back, `pause` after it was given back last time.
  void take_and_give_back(base::Duration pause = 10us) {
    client.loop.advance(pause);
    const auto call = client.call("a");
    newest_ = client.store->acquires.front().id;
    client.answer(client.store->next_acquire(), client.granted(++number_));
    call->release();
    client.loop.run();
  }

  /// The second acquire followed the first release at once, so the second release is kept.
  void keep_one() {
    take_and_give_back();
    client.answer(client.store->next_release(), true);
    take_and_give_back();
    ASSERT_TRUE(client.store->releases.empty());
  }

  ScriptedEngine client;
  const core::KeptCell cell{client.engine.cell("a")};  // as a Mutex does: what it knows of its users is not forgotten
  ClaimId newest_;
  std::uint64_t number_ = 0;
};

TEST_F(KeptRelease, IsNotTheFirst) {
  take_and_give_back();
  EXPECT_EQ(client.store->releases.size(), 1U);
}

TEST_F(KeptRelease, IsSavedByTheNextAcquire) {
  keep_one();
  const ClaimId kept = newest_;
  const auto call = client.call("a");
  ASSERT_EQ(client.store->acquires.size(), 1U);
  EXPECT_EQ(client.store->acquires.front().replaces, kept);
  client.loop.advance(10ms);
  EXPECT_TRUE(client.store->releases.empty()) << "the acquire is on its way";
  client.answer(client.store->next_acquire(), client.granted(7));
  EXPECT_TRUE(call->held());
  client.loop.advance(10ms);
  EXPECT_TRUE(client.store->releases.empty());
}

TEST_F(KeptRelease, IsSentSoonIfNoAcquireFollows) {
  keep_one();
  client.loop.advance(99us);
  EXPECT_TRUE(client.store->releases.empty());
  client.loop.advance(1us);
  ASSERT_EQ(client.store->releases.size(), 1U);
  EXPECT_EQ(client.store->releases.front().id, newest_);
}

TEST_F(KeptRelease, IsNotWhatFollowsALatePair) {
  keep_one();
  client.loop.advance(1ms);
  client.answer(client.store->next_release(), true);
  take_and_give_back(1ms);
  EXPECT_EQ(client.store->releases.size(), 1U) << "the acquire before it did not come at once";
}

TEST_F(KeptRelease, IsSentWhenTheAcquireIsGivenUp) {
  keep_one();
  const ClaimId kept = newest_;
  const auto call = client.call("a", {.ttl = 3s}, spi::WhenBusy::wait, client.loop.now() + 1s);
  client.answer(client.store->next_acquire(), Failure{Errc::unreachable, {}});
  EXPECT_TRUE(client.store->releases.empty());
  client.loop.advance(1s);
  EXPECT_TRUE(call->failed());
  ASSERT_FALSE(client.store->releases.empty());
  EXPECT_EQ(client.store->releases.front().id, kept);
}

TEST_F(KeptRelease, IsSentWhenTheClientIsClosed) {
  keep_one();
  client.engine.close(1s, [] {});
  ASSERT_EQ(client.store->releases.size(), 1U);
  EXPECT_EQ(client.store->releases.front().id, newest_);
}

TEST_F(KeptRelease, IsNotOneThatSomebodyWaitsFor) {
  keep_one();
  const auto call = client.call("a");
  client.answer(client.store->next_acquire(), client.granted(7));
  call->cell.release(call->hold(), [](Released) {});
  EXPECT_EQ(client.store->releases.size(), 1U);
}

TEST_F(KeptRelease, IsNoneWhereAWriteIsCheap) {
  client.store->keeps_releases_for = 0us;
  for (int i = 0; i < 3; ++i) {
    take_and_give_back(0us);
    EXPECT_EQ(client.store->releases.size(), 1U);
    client.answer(client.store->next_release(), true);
  }
}

}  // namespace
}  // namespace holdfast::test
