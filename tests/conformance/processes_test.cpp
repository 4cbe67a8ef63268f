// Clients elsewhere: on another thread, in another process, dead, or stopped.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/peer.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::eventually;
using test::Peer;
using test::ProcessPeer;
using test::ThreadPeer;

std::string milliseconds_of(milliseconds duration) { return std::to_string(duration.count()); }

/// The command that waits for a lock for a long time.
std::string acquire(const std::string& name, milliseconds ttl = 10s, milliseconds wait = test::patience) {
  return "acquire " + name + " " + milliseconds_of(ttl) + " " + milliseconds_of(wait);
}

Token token_in(const std::string& answer) {
  const std::string granted = "granted ";
  if (!answer.starts_with(granted)) return {};
  return Token(std::stoull(answer.substr(granted.size())));
}

/// Where the other client of a case lives.
enum class Where { thread, process };

struct PeerCase {
  const FixtureKind* kind;
  Where where;
};

void PrintTo(const PeerCase& value, std::ostream* out) {
  *out << value.kind->name << (value.where == Where::thread ? " thread" : " process");
}

/// Every store with a peer on a thread; those that other processes can reach, with one of these as well.
std::vector<PeerCase> peer_cases() {
  std::vector<PeerCase> cases;
  for (const FixtureKind* kind : every_store()) cases.push_back({kind, Where::thread});
  for (const FixtureKind* kind : stores_that(&Capabilities::separate_processes))
    cases.push_back({kind, Where::process});
  return cases;
}

class PeerConformance : public testing::TestWithParam<PeerCase> {
 protected:
  PeerConformance() : fixture_(GetParam().kind->make()) {}
  std::string url() const { return fixture_->url(); }
  std::unique_ptr<Peer> peer() const {
    if (GetParam().where == Where::thread) return std::make_unique<ThreadPeer>(url());
    return std::make_unique<ProcessPeer>(url());
  }

 private:
  std::unique_ptr<Fixture> fixture_;
};

std::string name_of_case(const testing::TestParamInfo<PeerCase>& info) {
  return info.param.kind->name + (info.param.where == Where::thread ? "_thread" : "_process");
}

INSTANTIATE_TEST_SUITE_P(Store, PeerConformance, testing::ValuesIn(peer_cases()), name_of_case);

// M05
TEST_P(PeerConformance, IsRefusedWhileWeHold) {
  Client client(url());
  const auto other = peer();
  Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(other->ask(acquire("mine", 10s, 0ms)), "timed_out");
  EXPECT_EQ(other->ask("holders mine"), "1");
  EXPECT_EQ(hold.release(), Released::released);
  EXPECT_NE(token_in(other->ask(acquire("mine", 10s, 0ms))), Token());
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
  EXPECT_EQ(other->ask("release mine"), "released");
  EXPECT_TRUE(Mutex(client, "mine").try_acquire());
}

// M06
TEST_P(PeerConformance, IsGrantedTheLockWhenWeLetGo) {
  Client client(url());
  const auto other = peer();
  Hold hold = Mutex(client, "mine").acquire();
  other->send(acquire("mine"));
  ASSERT_TRUE(eventually([&] { return client.show("mine").value().waiters.size() == 1; }));
  EXPECT_EQ(other->receive(0ms), std::nullopt);
  hold.release();
  const Token token = token_in(other->receive());
  EXPECT_GT(token, hold.token());
  EXPECT_EQ(client.show("mine").value().holders.at(0).client.id, other->ask("identity"));
}

// M06, the other way round
TEST_P(PeerConformance, GivesUsTheLockWhenItLetsGo) {
  Client client(url());
  const auto other = peer();
  const Token token = token_in(other->ask(acquire("mine")));
  ASSERT_NE(token, Token());
  Background waiter([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop); });
  ASSERT_TRUE(eventually([&] { return client.show("mine").value().waiters.size() == 1; }));
  EXPECT_EQ(other->ask("release mine"), "released");
  EXPECT_GT(waiter.take().token(), token);
}

// M08
TEST_P(PeerConformance, FreesItsLocksByLeaving) {
  Client client(url());
  const auto other = peer();
  ASSERT_NE(token_in(other->ask(acquire("mine", GetParam().kind->capabilities.short_ttl))), Token());
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
  other->leave();
  EXPECT_TRUE(Mutex(client, "mine").try_acquire_for(test::patience));
}

// M38
TEST_P(PeerConformance, HasLargerTokensThanThoseBefore) {
  Client client(url());
  const auto other = peer();
  Token last;
  for (int round = 0; round < 20; ++round) {
    Hold hold = Mutex(client, "mine").acquire();
    EXPECT_GT(hold.token(), last);
    ASSERT_EQ(hold.release(), Released::released);
    const Token token = token_in(other->ask(acquire("mine")));
    EXPECT_GT(token, hold.token());
    ASSERT_EQ(other->ask("release mine"), "released");
    last = token;
  }
}

// M41, M48
TEST_P(PeerConformance, HearsThatWeBrokeItsLock) {
  Client client(url());
  const auto other = peer();
  ASSERT_NE(token_in(other->ask(acquire("mine", 1s))), Token());
  ASSERT_TRUE(client.evict("mine"));
  EXPECT_EQ(other->ask("await_loss mine"), "lost");
  EXPECT_EQ(other->ask("valid mine"), "no");
  const Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(other->ask("release mine"), "not_held");
  EXPECT_TRUE(hold.valid());
}

// M09
TEST_P(PeerConformance, CountsTogetherWithOthers) {
  const std::string unique = std::to_string(getpid()) + "-" + GetParam().kind->name;
  const auto file = std::filesystem::temp_directory_path() / ("holdfast-count-" + unique);
  std::ofstream(file) << 0;
  std::vector<std::unique_ptr<Peer>> peers;
  for (int number = 0; number < 4; ++number) peers.push_back(peer());
  for (const auto& other : peers) other->send("count counter " + file.string() + " 50");
  for (const auto& other : peers) EXPECT_EQ(other->receive(60s).value_or("no answer"), "counted");
  int counted = 0;
  std::ifstream(file) >> counted;
  std::filesystem::remove(file);
  EXPECT_EQ(counted, 200);
}

// M45: the first thing a process sees after it was stopped for longer than its lease is that it has lost.
TEST_P(HoldConformance, IsNotValidAfterItsProcessWasStoppedForTooLong) {
  ProcessPeer stopped(url());
  ASSERT_NE(token_in(stopped.ask(acquire("mine", short_ttl()))), Token());
  EXPECT_EQ(stopped.ask("valid mine"), "yes");
  stopped.pause();
  const auto end = steady_clock::now() + short_ttl() + can().takeover_slack + 100ms;
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > end; }));
  stopped.send("valid mine");
  stopped.resume();
  EXPECT_EQ(stopped.receive(), "no");
  EXPECT_EQ(stopped.ask("await_loss mine"), "lost");
  EXPECT_EQ(stopped.ask("release mine"), "not_held");
}

// A store that lives in one process cannot exclude another, and says so.
TEST_P(PrivateStoreConformance, IsAnotherStoreInAnotherProcess) {
  Client client = open();
  EXPECT_FALSE(client.traits().shared_between_processes);
  ProcessPeer other(url());
  const Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(other.ask("holders mine"), "0");
  EXPECT_NE(token_in(other.ask(acquire("mine", 10s, 0ms))), Token());
  EXPECT_EQ(client.show("mine").value().holders.size(), 1u);
  other.kill();
  EXPECT_TRUE(hold.valid());
}

// M07
TEST_P(SharedStoreConformance, AKilledHolderIsReplacedWhenItsLeaseEnds) {
  Client client = open();
  ProcessPeer holder(url());
  const Token token = token_in(holder.ask(acquire("mine", short_ttl())));
  ASSERT_NE(token, Token());
  Background waiter([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "mine", 1));
  holder.kill();
  EXPECT_GT(waiter.take().token(), token);
}

// M21
TEST_P(SharedStoreConformance, KilledWaitersDelayTheOthersNoLongerThanOneLease) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  std::vector<std::unique_ptr<ProcessPeer>> dying;
  for (std::size_t number = 0; number < 3; ++number) {
    dying.push_back(std::make_unique<ProcessPeer>(url()));
    dying.back()->send(acquire("mine", short_ttl()));
    ASSERT_TRUE(line_becomes(client, "mine", number + 1));
  }
  Client last = open();
  Background waiter([&](std::stop_token stop) { return Mutex(last, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "mine", 4));
  for (const auto& process : dying) process->kill();
  hold.release();
  EXPECT_TRUE(waiter.take().valid());
}

// M22: a waiter that was away for longer than its lease is not told a grant that is no longer its own.
TEST_P(SharedStoreConformance, AWaiterThatWasStoppedForTooLongIsNotGrantedTheOldTurn) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  ProcessPeer waiter(url());
  waiter.send(acquire("mine", short_ttl()));
  ASSERT_TRUE(line_becomes(client, "mine", 1));
  waiter.pause();
  ASSERT_TRUE(line_becomes(client, "mine", 0));
  hold.release();
  Hold mine = Mutex(client, "mine").acquire();
  waiter.resume();
  EXPECT_EQ(waiter.receive(2 * short_ttl()), std::nullopt) << "granted what we hold";
  EXPECT_TRUE(mine.valid());
  ASSERT_EQ(mine.release(), Released::released);
  EXPECT_GT(token_in(waiter.receive()), mine.token());
}

// M25, M45: what it lost while it was stopped is somebody else's now.
TEST_P(SharedStoreConformance, AHolderThatWasStoppedForTooLongTouchesNoSuccessor) {
  Client client = open();
  ProcessPeer holder(url());
  ASSERT_NE(token_in(holder.ask(acquire("mine", short_ttl()))), Token());
  holder.pause();
  const Hold hold = Mutex(client, "mine").acquire();
  holder.resume();
  EXPECT_EQ(holder.ask("valid mine"), "no");
  EXPECT_EQ(holder.ask("release mine"), "not_held");
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(client.show("mine").value().holders.at(0).client.id, client.identity().id);
}

// RM4
TEST_P(SharedStoreConformance, AnotherProcessIsExcludedAtEveryDepth) {
  Client client = open();
  RecursiveMutex mutex(client, "nested");
  ProcessPeer other(url());
  for (int depth = 1; depth <= 3; ++depth) {
    mutex.lock();
    EXPECT_EQ(other.ask(acquire("nested", 10s, 0ms)), "timed_out");
  }
  for (int depth = 3; depth >= 1; --depth) {
    EXPECT_EQ(other.ask(acquire("nested", 10s, 0ms)), "timed_out");
    mutex.unlock();
  }
  EXPECT_NE(token_in(other.ask(acquire("nested"))), Token());
}

}  // namespace
}  // namespace holdfast::conformance
