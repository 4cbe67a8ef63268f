#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/claim_tracker.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/watches.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using spi::ClaimAnswer;
using test::FakeWire;

const LockName name("name");
constexpr std::int64_t own_revision = 9;

/// What the core is told.
struct Events final : spi::ClaimEvents {
  void granted(const LockName&, LockKind kind, spi::ClaimId id, const ClaimAnswer& answer) override {
    EXPECT_EQ(kind, LockKind::lock);
    EXPECT_EQ(answer.armed_at, base::Instant::min()) << "nothing new was proved";
    grants.emplace_back(id.low, answer.number);
  }
  void check(const LockName&, LockKind, spi::ClaimId id) override { checks.push_back(id.low); }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> grants;
  std::vector<std::uint64_t> checks;
};

KeyValue stored(const std::string& key, std::int64_t revision, const Record& record = {}) {
  return {.key = key, .value = record.text(), .create_revision = revision, .mod_revision = revision, .lease = 7};
}
Outcome outcome(std::vector<KeyValue> found) {
  const auto count = static_cast<std::int64_t>(found.size());
  return {.found = std::move(found), .count = count};
}

class EtcdClaimTracker : public testing::Test {
 protected:
  EtcdClaimTracker() {
    FakeWire::reset();
    calls_.wire();
    loop_.run();
  }
  ~EtcdClaimTracker() override { calls_.close(); }  // which answers reads that are under way

  static FakeWire& wire() { return *FakeWire::latest; }
  LineStanding granted() const { return {.claim = Line::Claim::of(stored(own_key_, own_revision)), .granted = true}; }
  LineStanding waiting() const {
    return {.claim = Line::Claim::of(stored(own_key_, own_revision)),
            .ahead = Line::Claim::of(stored(ahead_key_, 5)),
            .place = 1,
            .check_after = 10s,
            .revision = own_revision};
  }
  ClaimAnswer found(const LineStanding& standing) {
    const ClaimAnswer answer = tracker_.found(claim_, standing, ClaimMode::exclusive, loop_.now());
    loop_.run();
    return answer;
  }
  /// The claim is granted, lasts, and its key is watched.
  void hold_for_long() {
    found(granted());
    loop_.advance(100ms);
    wire().watch_began(11, own_revision);
    loop_.run();
    look_finds_it();
  }
  void own_key_changed(std::int64_t revision) {
    wire().watch_answer({.watch = 11, .events = {{.key = own_key_, .revision = revision}}});
    loop_.run();
  }
  void look_finds(std::vector<Outcome> outcomes, std::int64_t revision = 20) {
    ASSERT_EQ(wire().calls.size(), 1U);
    ASSERT_EQ(wire().first().transactions.at(0).then.size(), outcomes.size());
    wire().answer_first(std::move(outcomes), revision);
    loop_.run();
  }
  void look_finds_it() { look_finds({outcome({stored(own_key_, own_revision)})}); }

  test::ManualLoop loop_;
  Events events_;
  Address address_ = {.servers = {"a:1"}};
  ServerCalls calls_{loop_, address_, &FakeWire::prepare};
  Watches watches_{loop_, calls_};
  Leases leases_{loop_, calls_};
  Keys keys_{"holdfast"};
  ClaimTracker tracker_{{.loop = loop_, .events = events_}, calls_, watches_, leases_, keys_};
  const ClaimKey claim_ = {name, LockKind::lock, {0, 1}};
  const std::string own_key_ = keys_.claim("name", ClaimMode::exclusive, {0xa, 0});
  const std::string ahead_key_ = keys_.claim("name", ClaimMode::exclusive, {0xb, 0});
};

TEST_F(EtcdClaimTracker, TellsAWaitingClaimThatItsTurnHasCome) {
  const ClaimAnswer answer = found(waiting());
  EXPECT_EQ(answer.standing, ClaimAnswer::Standing::waiting);
  EXPECT_EQ(answer.place, 1U);
  EXPECT_EQ(answer.check_after, 10s);
  ASSERT_EQ(wire().watches().watches.size(), 1U);
  wire().watch_began(11, own_revision);
  loop_.run();
  const Outcome own = outcome({stored(own_key_, own_revision)});
  const Outcome ahead = outcome({stored(ahead_key_, 5)});
  look_finds({own, ahead, ahead});
  EXPECT_TRUE(events_.grants.empty());
  wire().key_deleted(11, ahead_key_, 21);
  loop_.run();
  look_finds({own, outcome({}), outcome({})}, 21);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> once = {{1, own_revision}};
  EXPECT_EQ(events_.grants, once);
  EXPECT_TRUE(tracker_.find(claim_)->granted);
}

TEST_F(EtcdClaimTracker, WatchesTheKeyOfAClaimThatLasts) {
  found(granted());
  loop_.advance(99ms);
  EXPECT_EQ(wire().stream(Stream::watch), 0U) << "most are gone by then";
  loop_.advance(1ms);
  EXPECT_EQ(wire().watches().watches, (std::vector<FakeWire::Watch>{{own_key_, ""}}));
}

TEST_F(EtcdClaimTracker, TellsAHolderThatItsKeyHasBeenDeleted) {
  hold_for_long();
  EXPECT_TRUE(events_.checks.empty());
  wire().key_deleted(11, own_key_, 21);
  loop_.run();
  look_finds({outcome({})});
  EXPECT_EQ(events_.checks, std::vector<std::uint64_t>{1});
  EXPECT_EQ(tracker_.find(claim_), nullptr);
  EXPECT_EQ(wire().watches().unwatched, std::vector<std::int64_t>{11});
}

TEST_F(EtcdClaimTracker, TellsAHolderThatItsKeyBelongsToAnotherLife) {
  hold_for_long();
  own_key_changed(21);
  look_finds({outcome({stored(own_key_, 21)})});
  EXPECT_EQ(events_.checks, std::vector<std::uint64_t>{1});
  EXPECT_EQ(tracker_.find(claim_), nullptr);
}

TEST_F(EtcdClaimTracker, TellsAHolderOnceThatItIsAskedToRelease) {
  hold_for_long();
  Record record;
  record.asked_to_release = {"move over", 5s};
  KeyValue asked = stored(own_key_, own_revision, record);
  asked.mod_revision = 21;
  for (int i = 0; i < 2; ++i) {
    own_key_changed(21);
    look_finds({outcome({asked})});
    EXPECT_EQ(events_.checks, std::vector<std::uint64_t>{1});
  }
  loop_.pause(2s);
  LineStanding standing = granted();
  standing.claim = Line::Claim::of(asked);
  const ClaimAnswer answer = found(standing);
  ASSERT_TRUE(answer.asked_to_release);
  EXPECT_EQ(answer.asked_to_release->reason, "move over");
  EXPECT_EQ(answer.asked_to_release->within, 3s) << "since we have seen it";
}

TEST_F(EtcdClaimTracker, LooksAgainIfSomethingHappensWhileItLooks) {
  hold_for_long();
  own_key_changed(21);
  own_key_changed(22);
  own_key_changed(23);
  look_finds_it();
  look_finds_it();
  EXPECT_TRUE(wire().calls.empty());
}

TEST_F(EtcdClaimTracker, SaysNothingIfItCannotLook) {
  hold_for_long();
  own_key_changed(21);
  wire().fail_first(test::timed_out());
  loop_.run();
  EXPECT_TRUE(events_.checks.empty()) << "the core asks from time to time in any case";
  own_key_changed(22);
  EXPECT_EQ(wire().calls.size(), 1U);
}

TEST_F(EtcdClaimTracker, TakesNoNoticeOfWhatThisClientDeletes) {
  hold_for_long();
  tracker_.ignore(claim_);
  wire().key_deleted(11, own_key_, 21);
  loop_.run();
  EXPECT_TRUE(wire().calls.empty());
  tracker_.forget(claim_);
  EXPECT_EQ(tracker_.find(claim_), nullptr);
}

TEST_F(EtcdClaimTracker, KnowsThatAGrantedClaimStaysSo) {
  found(granted());
  EXPECT_EQ(found(waiting()).standing, ClaimAnswer::Standing::granted) << "what was read earlier is heard later";
}

TEST_F(EtcdClaimTracker, KnowsTheClaimsOfTheTwoLinesApart) {
  const ClaimKey permits = {name, LockKind::semaphore, claim_.id};
  found(granted());
  LineStanding standing = granted();
  standing.claim.key = keys_.claim("name", ClaimMode::permits, {0xa, 0});
  static_cast<void>(tracker_.found(permits, standing, ClaimMode::permits, loop_.now()));
  EXPECT_NE(tracker_.semaphores().find(name), nullptr);
  tracker_.forget(permits);
  EXPECT_EQ(tracker_.semaphores().find(name), nullptr);
  EXPECT_NE(tracker_.find(claim_), nullptr);
}

TEST_F(EtcdClaimTracker, TellsNothingMoreWhenItIsClosed) {
  hold_for_long();
  tracker_.close();
  own_key_changed(21);
  EXPECT_TRUE(wire().calls.empty());
}

}  // namespace
}  // namespace holdfast::etcd
