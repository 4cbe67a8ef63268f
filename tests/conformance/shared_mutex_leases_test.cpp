// How long readers hold, each for itself; and their tokens.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"
#include "support/peer.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ProcessPeer;

std::string share(milliseconds ttl, milliseconds wait = test::patience) {
  return "share list " + std::to_string(ttl.count()) + " " + std::to_string(wait.count());
}

/// Whether readers of this client come to need a new claim, because the time of `first` is over.
bool next_claim_comes(Client& client) {
  const auto grants = client.health().grants;
  return eventually([&] {
    static_cast<void>(SharedMutex(client, "list").acquire_shared());
    return client.health().grants > grants;
  });
}

// RW08
TEST_P(ProcessSharedMutexConformance, AKilledReaderFreesOnlyItself) {
  Client client = open();
  Client other = open();
  Hold mine = SharedMutex(client, "list").acquire_shared();
  ProcessPeer dying(url());
  ProcessPeer living(url());
  ASSERT_TRUE(dying.ask(share(short_ttl())).starts_with("granted"));
  ASSERT_TRUE(living.ask(share(10s)).starts_with("granted"));
  ASSERT_TRUE(holders_become(client, "list", 3));
  Background writer([&](std::stop_token stop) { return SharedMutex(other, "list").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "list", 1));
  dying.kill();
  ASSERT_TRUE(holders_become(client, "list", 2));
  EXPECT_FALSE(writer.finishes(200ms));
  EXPECT_TRUE(mine.valid());
  EXPECT_EQ(living.ask("valid list"), "yes");
  EXPECT_EQ(mine.release(), Released::released);
  EXPECT_FALSE(writer.finishes(200ms));
  EXPECT_EQ(living.ask("release list"), "released");
  EXPECT_TRUE(writer.take().valid());
}

// RW08: the last reader, too.
TEST_P(ProcessSharedMutexConformance, AKilledLastReaderIsReplacedByTheWriter) {
  Client client = open();
  ProcessPeer dying(url());
  ASSERT_TRUE(dying.ask(share(short_ttl())).starts_with("granted"));
  Background writer([&](std::stop_token stop) { return SharedMutex(client, "list").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "list", 1));
  dying.kill();
  EXPECT_TRUE(writer.take().valid());
}

// RW08: a waiting writer that dies does not keep readers out for longer than its lease.
TEST_P(ProcessSharedMutexConformance, AKilledWaitingWriterLetsReadersIn) {
  Client client = open();
  Client other = open();
  const Hold mine = SharedMutex(client, "list").acquire_shared();
  ProcessPeer dying(url());
  dying.send("acquire list " + std::to_string(short_ttl().count()) + " 20000");
  ASSERT_TRUE(line_becomes(client, "list", 1));
  Background reader([&](std::stop_token stop) { return SharedMutex(other, "list").acquire_shared(stop); });
  ASSERT_TRUE(line_becomes(client, "list", 2));
  dying.kill();
  EXPECT_TRUE(reader.take().valid());
  EXPECT_TRUE(mine.valid());
}

// RW08, RW09: stopped for longer than its lease.
TEST_P(ProcessSharedMutexConformance, AReaderThatWasStoppedForTooLongTouchesNobody) {
  Client client = open();
  ProcessPeer stopped(url());
  ASSERT_TRUE(stopped.ask(share(short_ttl())).starts_with("granted"));
  const Hold mine = SharedMutex(client, "list").acquire_shared();
  stopped.pause();
  ASSERT_TRUE(holders_become(client, "list", 1));
  stopped.resume();
  EXPECT_EQ(stopped.ask("valid list"), "no");
  EXPECT_EQ(stopped.ask("release list"), "not_held");
  EXPECT_TRUE(mine.valid());
  EXPECT_EQ(client.show("list").value().holders.at(0).client.id, client.identity().id);
}

TEST_P(ProcessSharedMutexConformance, ReadersInOtherProcessesKeepAWriterOut) {
  Client client = open();
  ProcessPeer first(url());
  ProcessPeer second(url());
  ASSERT_TRUE(first.ask(share(10s)).starts_with("granted"));
  ASSERT_TRUE(second.ask(share(10s)).starts_with("granted"));
  EXPECT_FALSE(SharedMutex(client, "list").try_acquire());
  EXPECT_EQ(first.ask("release list"), "released");
  EXPECT_FALSE(SharedMutex(client, "list").try_acquire());
  EXPECT_EQ(second.ask("release list"), "released");
  Hold writer = SharedMutex(client, "list").try_acquire().value();
  EXPECT_EQ(first.ask(share(10s, 0ms)), "timed_out");
  writer.release();
  EXPECT_TRUE(first.ask(share(10s, 0ms)).starts_with("granted"));
}

// RW09
TEST_P(FixedLeaseSharedMutexConformance, AReaderWhoseLeaseEndsFreesOnlyItself) {
  Client client = open();
  Client other = open();
  std::vector<Hold> renewed;
  for (Client* somebody : {&client, &other}) {
    renewed.push_back(SharedMutex(*somebody, "list", {.ttl = steady_ttl()}).acquire_shared());
  }
  const Hold ending = SharedMutex(client, "list", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire_shared();
  ASSERT_TRUE(eventually([&] { return ending.state() == HoldState::lost; }));
  for (Hold& hold : renewed) {
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
    EXPECT_EQ(hold.release(), Released::released);
  }
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire_for(test::patience));
}

// RW09: of one client, too.
TEST_P(SharedMutexConformance, ReadersWithDifferentTtlsHaveDifferentLeases) {
  Client client = open();
  const Hold brief = SharedMutex(client, "list", {.ttl = 30s}).acquire_shared();
  const Hold lasting = SharedMutex(client, "list", {.ttl = 90s}).acquire_shared();
  EXPECT_LE(brief.remaining(), 30s);
  EXPECT_GT(lasting.remaining(), 60s);
  EXPECT_EQ(client.show("list").value().holders.size(), 2u);
}

// RW09
TEST_P(SharedMutexConformance, AReaderAtTheEndOfItsMaximumLeavesTheOthersAlone) {
  Client client = open();
  const Hold staying = SharedMutex(client, "list").acquire_shared();
  const Hold ending = SharedMutex(client, "list", {.max_hold = 200ms}).acquire_shared();
  EXPECT_TRUE(eventually([&] { return ending.state() == HoldState::lost; }));
  EXPECT_TRUE(eventually([&] { return ending.stop_token().stop_requested(); }));
  EXPECT_TRUE(staying.valid());
  EXPECT_FALSE(staying.stop_token().stop_requested());
  EXPECT_TRUE(holders_become(client, "list", 1));
}

// RW10
TEST_P(FixedLeaseSharedMutexConformance, ExtendingOneReaderExtendsNoOtherClients) {
  Client client = open();
  Client other = open();
  Hold mine = SharedMutex(client, "list", {.ttl = 30s}).acquire_shared();
  const Hold theirs = SharedMutex(other, "list", {.ttl = 30s}).acquire_shared();
  mine.extend(1h);
  EXPECT_GT(mine.remaining(), 50min);
  EXPECT_LE(theirs.remaining(), 30s);
  const LockStatus status = client.show("list").value();
  for (const ClaimStatus& holder : status.holders) {
    EXPECT_EQ(holder.lease_left > 50min, holder.client.id == client.identity().id);
  }
}

// The claim that takes over has a shorter lease.
TEST_P(FixedLeaseSharedMutexConformance, AnExtendedReaderKeepsItsLeaseWhenAnotherClaimComes) {
  Client client = open();
  Hold mine = SharedMutex(client, "list").acquire_shared();
  mine.extend(1h);
  ASSERT_TRUE(next_claim_comes(client));
  EXPECT_TRUE(mine.valid());
  EXPECT_GT(mine.remaining(), 50min);
}

TEST_P(SharedMutexConformance, ReadersThatStayGoOnWhenANewerClaimTakesOver) {
  Client client = open();
  Client other = open();
  Hold mine = SharedMutex(client, "list", {.ttl = steady_ttl()}).acquire_shared();
  const Token token = mine.token();
  for (int round = 0; round < 3; ++round) {
    const auto grants = client.health().grants;
    EXPECT_TRUE(eventually([&] {
      const Hold next = SharedMutex(client, "list", {.ttl = steady_ttl()}).acquire_shared();
      return client.health().grants > grants && mine.valid();
    }));
    EXPECT_TRUE(holders_become(other, "list", 1));
    EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
  }
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_EQ(mine.state(), HoldState::held);
  EXPECT_FALSE(mine.stop_token().stop_requested());
  EXPECT_EQ(mine.token(), token);
  EXPECT_EQ(client.health().lost, 0u);
  EXPECT_EQ(mine.release(), Released::released);
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire());
}

// What is taken away is taken away from those who moved to a newer claim as well.
TEST_P(SharedMutexConformance, ReadersThatMovedToANewerClaimCanBeEvicted) {
  Client client = open();
  Client operator_ = open();
  const Hold mine = SharedMutex(client, "list").acquire_shared();
  ASSERT_TRUE(next_claim_comes(client));
  EXPECT_TRUE(operator_.evict("list"));
  EXPECT_TRUE(eventually([&] { return mine.state() == HoldState::lost; }));
  EXPECT_TRUE(becomes_free(operator_, "list"));
}

// RW14
TEST_P(SharedMutexConformance, ReadersTokensLieBetweenThoseOfTheWritersAroundThem) {
  Client first = open();
  Client second = open();
  Token newest;
  for (int round = 0; round < 10; ++round) {
    Hold writer = SharedMutex(round % 2 == 0 ? first : second, "list").acquire();
    EXPECT_GT(writer.token(), newest);
    const Token written = writer.token();
    ASSERT_EQ(writer.release(), Released::released);
    newest = written;
    std::vector<Hold> readers;
    for (Client* client : {&first, &second, &first, &second}) {
      readers.push_back(SharedMutex(*client, "list").acquire_shared());
      EXPECT_GE(readers.back().token(), written);
      newest = std::max(newest, readers.back().token());
    }
    for (Hold& reader : readers) ASSERT_EQ(reader.release(), Released::released);
  }
}

// RW14: also after turns inside the client.
TEST_P(SharedMutexConformance, ReadersTokensAreNoSmallerThanThoseOfLocalWriters) {
  Client client = open();
  SharedMutex mutex(client, "list");
  Hold hold = mutex.acquire();
  std::deque<Background<Hold>> writers;
  for (std::size_t number = 0; number < 4; ++number) {
    writers.emplace_back([&](std::stop_token stop) { return mutex.acquire(stop); });
    ASSERT_TRUE(waiting_becomes(client, number + 1));
  }
  for (auto& writer : writers) {
    const Token before = hold.token();
    hold = {};
    hold = writer.take();
    EXPECT_GT(hold.token(), before);
  }
  const Token written = hold.token();
  hold.downgrade();
  const Hold beside = mutex.acquire_shared();
  EXPECT_GE(beside.token(), written);
  hold = {};
  const Hold later = mutex.acquire_shared();
  EXPECT_GE(later.token(), written);
}

// RW15
TEST_P(SharedMutexConformance, EvictingReadersServesTheWaitingWriter) {
  Client client = open();
  Client other = open();
  Client operator_ = open();
  std::vector<Hold> readers;
  for (Client* somebody : {&client, &client, &other}) {
    readers.push_back(SharedMutex(*somebody, "list").acquire_shared());
  }
  Background writer([&](std::stop_token stop) { return SharedMutex(operator_, "list").acquire(stop); });
  ASSERT_TRUE(line_becomes(operator_, "list", 1));
  EXPECT_TRUE(operator_.evict("list"));
  const Hold hold = writer.take();
  for (Hold& reader : readers) {
    EXPECT_TRUE(eventually([&] { return reader.state() == HoldState::lost; }));
    EXPECT_EQ(reader.release(), Released::not_held);
    EXPECT_LT(reader.token(), hold.token());
  }
  EXPECT_TRUE(hold.valid());
}

// RW15
TEST_P(SharedMutexConformance, EvictingAWriterServesTheWaitingReaders) {
  Client client = open();
  Client other = open();
  Client operator_ = open();
  const Hold writer = SharedMutex(client, "list").acquire();
  Background first([&](std::stop_token stop) { return SharedMutex(operator_, "list").acquire_shared(stop); });
  Background second([&](std::stop_token stop) { return SharedMutex(other, "list").acquire_shared(stop); });
  ASSERT_TRUE(line_becomes(operator_, "list", 2));
  EXPECT_TRUE(operator_.evict("list"));
  const Hold one = first.take();
  const Hold two = second.take();
  EXPECT_TRUE(one.valid() && two.valid());
  EXPECT_TRUE(eventually([&] { return writer.state() == HoldState::lost; }));
}

TEST_P(SharedMutexConformance, ClosingLosesAllReadersHoldsAndFreesTheLock) {
  Client client = open();
  Client other = open();
  std::vector<Hold> holds;
  for (int number = 0; number < 5; ++number) holds.push_back(SharedMutex(client, "list").acquire_shared());
  client.close();
  for (Hold& hold : holds) {
    EXPECT_EQ(hold.state(), HoldState::lost);
    EXPECT_TRUE(hold.stop_token().stop_requested());
    EXPECT_EQ(hold.release(), Released::not_held);
  }
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire());
  EXPECT_EQ(errc_of([&] { SharedMutex(client, "list").lock_shared(); }), Errc::closed);
}

TEST_P(SharedMutexConformance, AForkedChildReadsNothingAndGivesNothingBack) {
  Client client = open();
  Client other = open();
  SharedMutex mutex(client, "list");
  mutex.lock_shared();
  auto hold = std::make_unique<Hold>(mutex.acquire_shared());
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    report.expect(!hold->valid(), "valid");
    report.expect(errc_of([&] { mutex.lock_shared(); }) == Errc::forked, "lock_shared");
    report.expect(errc_of([&] { static_cast<void>(mutex.try_acquire_shared()); }) == Errc::forked,
                  "try_acquire_shared");
    mutex.unlock_shared();
    hold.reset();
  }));
  EXPECT_TRUE(hold->valid());
  EXPECT_TRUE(mutex.hold().valid());
  EXPECT_FALSE(SharedMutex(other, "list").try_acquire());
  mutex.unlock_shared();
}

}  // namespace
}  // namespace holdfast::conformance
