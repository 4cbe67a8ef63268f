// Asking holders to let go, and taking away what they do not give.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/peer.hpp"

namespace holdfast {

inline void PrintTo(Revoked outcome, std::ostream* out) {
  static constexpr const char* names[] = {"not_held", "let_go", "evicted"};
  *out << names[static_cast<int>(outcome)];
}

namespace conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::errc_of;
using test::eventually;
using test::ProcessPeer;
using test::Recorder;

/// So much time has a holder that is asked to let go, and must hear it before its lock is taken away, also on a machine
/// that is busy.
constexpr milliseconds long_enough_to_hear = 3s;

/// Writes down what a hold is asked.
class Requests {
 public:
  void of(Hold& hold) {
    hold.on_release_request([this](const ReleaseRequest& request) { recorder_.add(request); });
  }
  bool reach(std::size_t count) const { return recorder_.reaches(count); }
  std::size_t size() const { return recorder_.size(); }
  std::vector<std::string> reasons() const {
    std::vector<std::string> found;
    for (const ReleaseRequest& request : recorder_.all()) found.push_back(request.reason);
    return found;
  }
  milliseconds last_within() const { return recorder_.all().back().within; }

 private:
  Recorder<ReleaseRequest> recorder_;
};

TEST_P(ClientConformance, AnEvictionSparesWhoCameAfterTheLook) {
  Client client = open();
  Client other = open();
  Hold looked_at = Mutex(client, "mine").acquire();
  const std::uint64_t number = other.show("mine").value().number;
  looked_at.release();
  const Hold next = Mutex(client, "mine").acquire();
  EXPECT_FALSE(other.evict("mine", LockKind::lock, number));
  EXPECT_TRUE(next.valid());
  EXPECT_TRUE(other.evict("mine", LockKind::lock, other.show("mine").value().number));
  EXPECT_TRUE(eventually([&] { return !next.valid(); }));
}

TEST_P(ReleaseRequestConformance, ARequestReachesTheHolderOnceWithItsReasonAndItsTime) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  requests.of(hold);
  EXPECT_EQ(operator_.ask_to_release("mine", {.reason = "maintenance", .within = 60s}), 1u);
  ASSERT_TRUE(requests.reach(1));
  EXPECT_GT(requests.last_within(), 30s);
  EXPECT_LE(requests.last_within(), 60s);
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  EXPECT_EQ(hold.state(), HoldState::held) << "letting go is up to the holder";
  client.close();
  EXPECT_EQ(requests.reasons(), std::vector<std::string>{"maintenance"});
}

// Also when its time is long over.
TEST_P(ReleaseRequestConformance, ARequestThatIsIgnoredIsNotRepeated) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  requests.of(hold);
  EXPECT_EQ(operator_.ask_to_release("mine", {.reason = "now", .within = 0ms}), 1u);
  ASSERT_TRUE(requests.reach(1));
  const auto end = steady_clock::now() + 3s;
  ASSERT_TRUE(eventually([&] { return steady_clock::now() > end; }));
  EXPECT_TRUE(hold.valid());
  client.close();
  EXPECT_EQ(requests.size(), 1u);
}

TEST_P(ReleaseRequestConformance, ASecondRequestIsToldAgain) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine").acquire();
  requests.of(hold);
  operator_.ask_to_release("mine", {.reason = "please", .within = 60s});
  ASSERT_TRUE(requests.reach(1));
  operator_.ask_to_release("mine", {.reason = "urgent", .within = 60s});
  ASSERT_TRUE(requests.reach(2));
  operator_.ask_to_release("mine", {.reason = "urgent", .within = 10s});
  ASSERT_TRUE(requests.reach(3));
  client.close();
  EXPECT_EQ(requests.reasons(), (std::vector<std::string>{"please", "urgent", "urgent"}));
}

TEST_P(ReleaseRequestConformance, WhoeverListensLateHearsWhatWasAskedBefore) {
  Requests early;
  Requests late;
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine").acquire();
  early.of(hold);
  operator_.ask_to_release("mine", {.reason = "maintenance", .within = 60s});
  ASSERT_TRUE(early.reach(1));
  late.of(hold);
  ASSERT_TRUE(late.reach(1));
  EXPECT_EQ(late.reasons(), std::vector<std::string>{"maintenance"});
  operator_.ask_to_release("mine", {.reason = "urgent", .within = 1s});
  ASSERT_TRUE(late.reach(2));
  client.close();
  EXPECT_EQ(early.size(), 1u) << "it was replaced";
}

// The control: nobody asked.
TEST_P(ReleaseRequestConformance, WhoeverIsNotAskedHearsNothing) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold asked = Mutex(client, "asked").acquire();
  Hold mine = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  requests.of(mine);
  EXPECT_EQ(operator_.ask_to_release("asked", {.reason = "maintenance", .within = 60s}), 1u);
  EXPECT_EQ(operator_.ask_to_release("nobody's", {.reason = "maintenance", .within = 60s}), 0u);
  const auto renewals = client.health().renewals;
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= renewals + 4; }));
  client.close();
  EXPECT_EQ(requests.size(), 0u);
}

// What the last holder was asked is not the next one's business.
TEST_P(ReleaseRequestConformance, TheNextHolderIsNotAsked) {
  Requests first;
  Requests second;
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine").acquire();
  first.of(hold);
  other.ask_to_release("mine", {.reason = "maintenance", .within = 60s});
  ASSERT_TRUE(first.reach(1));
  hold.release();
  for (Client* somebody : {&client, &other}) {
    Hold next = Mutex(*somebody, "mine").acquire();
    second.of(next);
    EXPECT_FALSE(eventually(200ms, [&] { return second.size() > 0; }));
    ASSERT_EQ(next.release(), Released::released);
  }
}

TEST_P(SharedMutexConformance, AllReadersAreAsked) {
  Requests requests;
  Client first = open();
  Client second = open();
  Client operator_ = open();
  std::vector<Hold> readers;
  for (Client* client : {&first, &first, &second}) {
    readers.push_back(SharedMutex(*client, "list").acquire_shared());
    requests.of(readers.back());
  }
  ASSERT_TRUE(holders_become(operator_, "list", 2));
  EXPECT_EQ(operator_.ask_to_release("list", {.reason = "maintenance", .within = 60s}), 2u);
  ASSERT_TRUE(requests.reach(3));
  first.close();
  second.close();
  EXPECT_EQ(requests.reasons(), std::vector<std::string>(3, "maintenance"));
}

// A lock that somebody wants back is not handed over inside the client.
TEST_P(FifoConformance, AfterARequestTheLockGoesToTheOtherClient) {
  Requests requests;
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine").acquire();
  requests.of(hold);
  Background theirs([&](std::stop_token stop) { return Mutex(other, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "mine", 1));
  Background ours([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  other.ask_to_release("mine", {.reason = "my turn", .within = 60s});
  ASSERT_TRUE(requests.reach(1));
  hold.release();
  Hold next = theirs.take();
  EXPECT_FALSE(ours.finishes(200ms));
  EXPECT_EQ(client.health().local_turns, 0u);
  next.release();
  EXPECT_TRUE(ours.take().valid());
}

TEST_P(ReleaseRequestConformance, RevokingWhatNobodyHoldsDoesNothing) {
  Client client = open();
  EXPECT_EQ(client.revoke("mine", {.reason = "maintenance", .within = 1h}), Revoked::not_held);
  EXPECT_TRUE(Mutex(client, "mine").try_acquire());
}

TEST_P(ReleaseRequestConformance, RevokingLetsTheHolderLetGo) {
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine").acquire();
  hold.on_release_request([&](const ReleaseRequest&) { hold.release(); });
  EXPECT_EQ(operator_.revoke("mine", {.reason = "maintenance", .within = 1h}), Revoked::let_go);
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::released; }));
  EXPECT_TRUE(becomes_free(operator_, "mine"));
  client.close();
}

TEST_P(ReleaseRequestConformance, RevokingTakesAwayWhatTheHolderKeeps) {
  // A request that a busy machine delivers too late finds nobody to be asked; then the holder gets more time.
  for (const milliseconds within : {500ms, 5000ms, 20'000ms}) {
    Requests requests;
    Client client = open();
    Client operator_ = open();
    Hold hold = Mutex(client, "mine").acquire();
    requests.of(hold);
    const auto begin = steady_clock::now();
    EXPECT_EQ(operator_.revoke("mine", {.reason = "maintenance", .within = within}), Revoked::evicted);
    EXPECT_GE(steady_clock::now() - begin, within);
    EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
    EXPECT_TRUE(Mutex(operator_, "mine").try_acquire());
    client.close();
    if (requests.size() > 0) return;
  }
  FAIL() << "the holder was never asked before its lock was taken away";
}

TEST_P(ReleaseRequestConformance, RevokingSparesWhoeverComesLater) {
  Client client = open();
  Client other = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine").acquire();
  hold.on_release_request([&](const ReleaseRequest&) { hold.release(); });
  Background waiter([&](std::stop_token stop) { return Mutex(other, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(operator_, "mine", 1));
  EXPECT_EQ(operator_.revoke("mine", {.reason = "maintenance", .within = 1h}), Revoked::let_go);
  const Hold next = waiter.take();
  EXPECT_TRUE(next.valid());
  EXPECT_EQ(operator_.show("mine").value().holders.size(), 1u);
  client.close();
}

TEST_P(SharedMutexConformance, RevokingTakesItFromTheReadersThatKeepItAndFromNobodyElse) {
  Client client = open();
  Client stubborn = open();
  Client operator_ = open();
  Hold polite = SharedMutex(client, "list").acquire_shared();
  polite.on_release_request([&](const ReleaseRequest&) { polite.release(); });
  const Hold kept = SharedMutex(stubborn, "list").acquire_shared();
  Background revoked([&](std::stop_token stop) {
    return operator_.revoke("list", {.reason = "maintenance", .within = long_enough_to_hear}, LockKind::lock, stop);
  });
  ASSERT_TRUE(eventually([&] { return polite.state() == HoldState::released; }));
  const Hold later = SharedMutex(client, "list").acquire_shared();
  EXPECT_EQ(revoked.take(), Revoked::evicted);
  EXPECT_TRUE(eventually([&] { return kept.state() == HoldState::lost; }));
  EXPECT_TRUE(later.valid());
  EXPECT_TRUE(holders_become(operator_, "list", 1));
  client.close();
}

// Others of its client that come meanwhile do not hide it.
TEST_P(SharedMutexConformance, AReaderThatKeepsItIsEvictedThoughOthersComeToItsClient) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold kept = SharedMutex(client, "list").acquire_shared();
  requests.of(kept);
  Background revoked([&](std::stop_token stop) {
    return operator_.revoke("list", {.reason = "maintenance", .within = long_enough_to_hear}, LockKind::lock, stop);
  });
  ASSERT_TRUE(requests.reach(1));
  const Hold later = SharedMutex(client, "list").acquire_shared();
  EXPECT_EQ(revoked.take(), Revoked::evicted);
  EXPECT_TRUE(eventually([&] { return kept.state() == HoldState::lost; }));
  EXPECT_TRUE(later.valid());
  client.close();
}

TEST_P(ReleaseRequestConformance, AStopEndsARevocationAndTakesNothingAway) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine").acquire();
  requests.of(hold);
  Background revoked([&](std::stop_token stop) {
    return operator_.revoke("mine", {.reason = "maintenance", .within = milliseconds::max()}, LockKind::lock, stop);
  });
  ASSERT_TRUE(requests.reach(1));
  EXPECT_FALSE(eventually(50ms, [&] { return revoked.finished(); })) << "so long is not over at once";
  revoked.cancel();
  EXPECT_EQ(revoked.error(), Errc::cancelled);
  EXPECT_TRUE(hold.valid());
  client.close();
}

TEST_P(ReleaseRequestConformance, ClosingTheClientEndsARevocation) {
  Requests requests;
  Client client = open();
  Client operator_ = open();
  Hold hold = Mutex(client, "mine").acquire();
  requests.of(hold);
  Background revoked([&](std::stop_token) {
    return operator_.revoke("mine", {.reason = "maintenance", .within = milliseconds::max()});
  });
  ASSERT_TRUE(requests.reach(1));
  operator_.close();
  EXPECT_EQ(revoked.error(), Errc::closed);
  EXPECT_TRUE(hold.valid());
  client.close();
}

TEST_P(ReleaseRequestConformance, ATimeThatIsNegativeIsRefused) {
  Client client = open();
  const Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(errc_of([&] { client.revoke("mine", {.within = -1ms}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { client.ask_to_release("mine", {.within = -1ms}); }), Errc::invalid_argument);
  EXPECT_TRUE(hold.valid());
}

TEST_P(SemaphoreConformance, PermitsCanBeAskedForAndRevoked) {
  Requests of_permits;
  Requests of_lock;
  Client client = open();
  Client operator_ = open();
  Hold lock = Mutex(client, "pool").acquire();
  of_lock.of(lock);
  std::vector<Hold> permits;
  for (int number = 0; number < 2; ++number) {
    permits.push_back(Semaphore(client, "pool", 4).acquire(2));
    of_permits.of(permits.back());
  }
  EXPECT_EQ(operator_.ask_to_release("pool", {.reason = "please", .within = 60s}, LockKind::semaphore), 2u);
  ASSERT_TRUE(of_permits.reach(2));
  const ReleaseRequest now{.reason = "now", .within = 200ms};
  EXPECT_EQ(operator_.revoke("pool", now, LockKind::semaphore), Revoked::evicted);
  for (const Hold& hold : permits) EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_TRUE(Semaphore(operator_, "pool", 4).try_acquire(4));
  EXPECT_TRUE(lock.valid());
  client.close();
  EXPECT_EQ(of_lock.size(), 0u);
}

TEST_P(ProcessReleaseRequestConformance, ARequestReachesAHolderInAnotherProcess) {
  Client client = open();
  ProcessPeer holder(url());
  ASSERT_TRUE(holder.ask("acquire mine 10000 20000").starts_with("granted"));
  holder.send("await_request mine");
  EXPECT_EQ(client.ask_to_release("mine", {.reason = "maintenance", .within = 60s}), 1u);
  EXPECT_EQ(holder.receive(), "asked maintenance");
  EXPECT_EQ(holder.ask("release mine"), "released");
  EXPECT_EQ(client.revoke("mine", {.reason = "maintenance", .within = 60s}), Revoked::not_held);
}

TEST_P(ProcessReleaseRequestConformance, RevokingTakesAwayWhatAStoppedProcessKeeps) {
  Client client = open();
  ProcessPeer holder(url());
  ASSERT_TRUE(holder.ask("acquire mine 60000 20000").starts_with("granted"));
  holder.pause();
  EXPECT_EQ(client.revoke("mine", {.reason = "maintenance", .within = 200ms}), Revoked::evicted);
  const auto mine = Mutex(client, "mine").try_acquire();
  ASSERT_TRUE(mine);
  holder.resume();
  EXPECT_EQ(holder.ask("await_loss mine"), "lost");
  EXPECT_EQ(holder.ask("release mine"), "not_held");
  EXPECT_TRUE(mine->valid());
}

TEST_P(NoReleaseRequestConformance, IsRefusedWithTheReasonAndTakesNothingAway) {
  Client client = open();
  const Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(errc_of([&] { client.ask_to_release("mine", {.reason = "please"}); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { client.revoke("mine", {.reason = "please"}); }), Errc::unsupported);
  EXPECT_TRUE(hold.valid());
}

}  // namespace
}  // namespace conformance
}  // namespace holdfast
