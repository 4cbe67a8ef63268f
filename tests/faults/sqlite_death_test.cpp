// Processes that die, or stand still, while they hold a lock of an SQLite store or wait for one.
//
// The kernel tells of a death at once. All leases here are long, so that nobody can be served in time by their end.

#include <signal.h>

#include <memory>
#include <vector>

#include "faults/sqlite_store.hpp"
#include "support/peer.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::StartsWith;

constexpr auto lease = 12s;
constexpr auto at_once = lease / 3;
/// For `acquire`: the lease, and for how long it waits.
const std::string long_lease = "12000 30000";

class SqliteDeath : public testing::Test {
 protected:
  /// Processes that wait for `a`, in this order; returns when all of them stand in the line.
  Line line_of(std::size_t count) const {
    Line line = faults::line_of(store_.url(), client_, count, long_lease);
    EXPECT_EQ(line.size(), count);
    return line;
  }
  static bool is_granted_at_once(ProcessPeer& peer) { return is_granted_within(peer, at_once); }

  SqliteStore store_;
  Client client_{store_.url()};
};

TEST_F(SqliteDeath, OfAHolderIsNoticedAtOnce) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(1);
  holder.kill();
  EXPECT_TRUE(is_granted_at_once(*line[0]));
}

TEST_F(SqliteDeath, IsNoticedByWhoeverComesLater) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  holder.kill();
  ProcessPeer next(store_.url());
  next.send("acquire a " + long_lease);
  EXPECT_TRUE(is_granted_at_once(next));
}

TEST_F(SqliteDeath, OfAHolderThatEndsWithoutReleasingIsNoticedAtOnce) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(1);
  holder.send("exit");
  EXPECT_TRUE(is_granted_at_once(*line[0]));
}

TEST_F(SqliteDeath, OfAHolderIsNoticedThoughItLeftAForkedChildBehind) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  const pid_t child = std::stoi(holder.ask("fork"));
  ASSERT_GT(child, 0);
  auto line = line_of(1);
  EXPECT_TRUE(waits(*line[0])) << "the fork gave the lock away";
  EXPECT_EQ(holder.ask("valid a"), "yes");
  holder.kill();
  EXPECT_TRUE(is_granted_at_once(*line[0]));
  EXPECT_EQ(kill(child, SIGKILL), 0) << "the child was to live on";
}

TEST_F(SqliteDeath, OfAForkedChildIsNone) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  const pid_t child = std::stoi(holder.ask("fork"));
  ASSERT_GT(child, 0);
  auto line = line_of(1);
  ASSERT_EQ(kill(child, SIGKILL), 0);
  EXPECT_TRUE(waits(*line[0]));
  EXPECT_EQ(holder.ask("release a"), "released");
  EXPECT_TRUE(is_granted_at_once(*line[0]));
}

TEST_F(SqliteDeath, OfTheFirstInLineIsSkipped) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(3);
  line[0]->kill();
  EXPECT_TRUE(waits(*line[1])) << "the holder is alive";
  ASSERT_EQ(holder.ask("release a"), "released");
  ASSERT_TRUE(is_granted_at_once(*line[1]));
  ASSERT_EQ(line[1]->ask("release a"), "released");
  EXPECT_TRUE(is_granted_at_once(*line[2]));
}

TEST_F(SqliteDeath, InTheMiddleOfTheLineChangesNoOrder) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(5);
  line[2]->kill();
  ASSERT_EQ(holder.ask("release a"), "released");
  for (const std::size_t next : {0U, 1U, 3U, 4U}) {
    ASSERT_TRUE(is_granted_at_once(*line[next])) << next;
    ASSERT_EQ(line[next]->ask("release a"), "released");
  }
}

TEST_F(SqliteDeath, OfFiveInARowDelaysNobody) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(6);
  for (std::size_t i = 0; i < 5; ++i) line[i]->kill();
  ASSERT_EQ(holder.ask("release a"), "released");
  EXPECT_TRUE(is_granted_at_once(*line[5]));
}

TEST_F(SqliteDeath, OfHolderAndLineTogetherDelaysNobody) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(4);
  for (std::size_t i = 0; i < 3; ++i) line[i]->kill();
  holder.kill();
  EXPECT_TRUE(is_granted_at_once(*line[3]));
}

TEST_F(SqliteDeath, InAnotherContainerIsNoticedAtOnce) {
  ProcessPeer holder(store_.url(), ProcessPeer::Place::container);
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  auto line = line_of(1);
  EXPECT_TRUE(waits(*line[0]));
  holder.kill();
  EXPECT_TRUE(is_granted_at_once(*line[0]));
}

TEST_F(SqliteDeath, IsNoticedInAnotherContainer) {
  ProcessPeer holder(store_.url());
  ProcessPeer waiter(store_.url(), ProcessPeer::Place::container);
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  waiter.send("acquire a " + long_lease);
  ASSERT_TRUE(line_becomes(client_, "a", 1));
  EXPECT_TRUE(waits(waiter));
  holder.kill();
  EXPECT_TRUE(is_granted_at_once(waiter));
}

TEST_F(SqliteDeath, AReleaseReachesAnotherContainerAtOnce) {
  ProcessPeer holder(store_.url());
  ProcessPeer waiter(store_.url(), ProcessPeer::Place::container);
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  waiter.send("acquire a " + long_lease);
  ASSERT_TRUE(line_becomes(client_, "a", 1));
  ASSERT_EQ(holder.ask("release a"), "released");
  EXPECT_TRUE(is_granted_at_once(waiter));
}

// The other side of it: a process that merely stands still is not dead.
TEST_F(SqliteDeath, IsNotWhatBecomesOfAStoppedHolderBeforeItsLeaseEnds) {
  constexpr auto short_lease = 3s;
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a 3000 0"), StartsWith("granted"));
  auto line = line_of(1);
  const auto start = std::chrono::steady_clock::now();
  holder.pause();
  ASSERT_THAT(line[0]->receive(), StartsWith("granted"));
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, short_lease * 2 / 3 - 100ms) << "a renewal is never older than a third of the lease";
  EXPECT_LT(took, short_lease + 3s);
  holder.resume();
  EXPECT_EQ(holder.ask("valid a"), "no");
  EXPECT_EQ(holder.ask("await_loss a"), "lost");
  EXPECT_EQ(holder.ask("release a"), "not_held");
  EXPECT_EQ(line[0]->ask("valid a"), "yes");
}

TEST_F(SqliteDeath, AStoppedWaiterDelaysTheNextNoLongerThanItsLease) {
  ProcessPeer holder(store_.url());
  ASSERT_THAT(holder.ask("acquire a " + long_lease), StartsWith("granted"));
  ProcessPeer stopped(store_.url());
  stopped.send("acquire a 3000 30000");
  ASSERT_TRUE(line_becomes(client_, "a", 1));
  ProcessPeer next(store_.url());
  next.send("acquire a 3000 30000");
  ASSERT_TRUE(line_becomes(client_, "a", 2));
  stopped.pause();
  ASSERT_EQ(holder.ask("release a"), "released");
  // The stopped one's lease, and the next one's own look at the line, which may be due a third of its lease later.
  EXPECT_THAT(next.receive(3s + 1s + 1s).value_or("no answer"), StartsWith("granted"));
}

}  // namespace
}  // namespace holdfast::faults
