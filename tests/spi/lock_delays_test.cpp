// Names that stay closed for a while after a holder that ended by itself.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>

#include "spi/stores.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {
namespace {

/// Ends during a test.
constexpr milliseconds short_lease = 200ms;
/// Longer than a busy machine takes for a few requests.
constexpr milliseconds delay = 2s;

base::Instant now() { return base::BootClock::now(); }

/// When it is open at the earliest.
base::Instant opens(const ClaimAnswer& held) { return held.armed_at + held.lease + delay; }

TEST_P(LockDelays, BeginWhenTheLeaseEnds) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  const ClaimAnswer held = holder.acquire(1, {.lease = short_lease, .lock_delay = delay});
  EXPECT_LT(held.lease, short_lease + delay) << "the delay is not part of the lease";
  const ClaimAnswer wait = next.acquire(2);
  EXPECT_LE(wait.check_after, held.lease + delay + 1ms);
  ASSERT_TRUE(test::eventually([&] { return holder.look(1).standing == absent; }));
  EXPECT_GE(now(), held.armed_at + held.lease);
  ASSERT_LT(now(), opens(held)) << "this machine is too slow for this test";
  EXPECT_EQ(holder.renew(1).standing, absent) << "not to be renewed";
  EXPECT_FALSE(holder.release(1)) << "and not to be opened by whoever was late";
  EXPECT_EQ(holder.downgrade(1).standing, absent);
  const ClaimAnswer still = next.look(2);
  if (still.standing == waiting) {
    EXPECT_EQ(still.place, 1U);
    EXPECT_LE(still.check_after, delay + 1ms);
    EXPECT_GT(still.check_after, 0ms);
  }
  EXPECT_TRUE(test::eventually([&] { return next.look(2).standing == granted; })) << "without a push, when it asks";
  EXPECT_GE(now(), opens(held));
}

TEST_P(LockDelays, KeepOutNewcomersAndTheirOwnSecondLife) {
  BackendUnderTest client(url());
  const ClaimAnswer held = client.acquire(1, {.lease = short_lease, .lock_delay = delay});
  ASSERT_TRUE(test::eventually([&] { return client.look(1).standing == absent; }));
  const ClaimAnswer again = client.acquire(1, {.when_busy = WhenBusy::refuse});
  const ClaimAnswer second = client.acquire(2, {.when_busy = WhenBusy::refuse, .replaces = 1});
  const ClaimAnswer third = client.acquire(1, {.replaces = 2});
  const auto locks = client.list();
  ASSERT_LT(now(), opens(held)) << "this machine is too slow for this test";
  EXPECT_EQ(again.standing, absent);
  EXPECT_EQ(second.standing, absent);
  EXPECT_EQ(third.standing, waiting) << "a life of its own";
  EXPECT_TRUE(locks.at(0).holders.empty()) << "nobody holds it";
  EXPECT_EQ(locks.at(0).waiters.size(), 1U);
  EXPECT_EQ(locks.at(0).number, 0U);
  EXPECT_TRUE(client.release(1)) << "of the second life";
  EXPECT_TRUE(client.list().empty());
  EXPECT_TRUE(test::eventually([&] { return client.acquire(3, {.when_busy = WhenBusy::refuse}).standing == granted; }));
  EXPECT_GE(now(), opens(held));
}

TEST_P(LockDelays, DoNotFollowAReleaseAReplacementOrAnEviction) {
  BackendUnderTest client(url());
  client.acquire(1, {.lock_delay = 1h});
  client.release(1);
  EXPECT_EQ(client.acquire(2, {.lock_delay = 1h}).standing, granted);
  EXPECT_EQ(client.acquire(3, {.lock_delay = 1h, .replaces = 2}).standing, granted);
  EXPECT_EQ(client.evict(), 1U);
  EXPECT_EQ(client.acquire(4).standing, granted);
}

TEST_P(LockDelays, AreEndedByAnEviction) {
  BackendUnderTest holder(url());
  BackendUnderTest next(url());
  const std::uint64_t number = holder.acquire(1, {.lease = short_lease, .lock_delay = 1h}).number;
  next.acquire(2);
  ASSERT_TRUE(test::eventually([&] { return holder.look(1).standing == absent; }));
  EXPECT_EQ(next.look(2).standing, waiting);
  EXPECT_EQ(next.ask_to_release("name", {}), 0U) << "there is nobody to be asked";
  EXPECT_EQ(next.evict("name", LockKind::lock, number - 1), 0U);
  EXPECT_EQ(next.look(2).standing, waiting);
  EXPECT_EQ(next.evict("name", LockKind::lock, number), 0U) << "nobody held it any more";
  EXPECT_TRUE(next.is_told_granted(2));
}

TEST_P(LockDelays, DoNotFollowWaitersThatGiveUp) {
  BackendUnderTest client(url());
  client.acquire(1);
  client.acquire(2, {.lease = short_lease, .lock_delay = 1h});
  ASSERT_TRUE(test::eventually([&] { return client.look(2).standing == absent; }));
  client.release(1);
  EXPECT_EQ(client.acquire(3).standing, granted);
}

TEST_P(LockDelays, OfAWaiterCountOnceItHasHeld) {
  BackendUnderTest client(url());
  client.acquire(1);
  const ClaimAnswer wait = client.acquire(2, {.lease = short_lease, .lock_delay = delay});
  client.acquire(3);
  client.release(1);
  ASSERT_TRUE(test::eventually([&] { return client.look(2).standing == absent; }));
  EXPECT_TRUE(test::eventually([&] { return client.look(3).standing == granted; }));
  EXPECT_GE(now(), opens(wait)) << "its own last lease, and the delay after it";
}

TEST_P(LockDelays, MoveOnWithEveryRenewal) {
  BackendUnderTest client(url());
  client.acquire(1, {.lease = short_lease, .lock_delay = delay});
  const ClaimAnswer renewed = client.renew(Ref{1, "name", 2 * short_lease});
  ASSERT_EQ(renewed.standing, granted);
  client.acquire(2);
  EXPECT_TRUE(test::eventually([&] { return client.look(2).standing == granted; }));
  EXPECT_GE(now(), opens(renewed));
}

TEST_P(LockDelays, KeepWhatTheHolderHadAndNoMore) {
  BackendUnderTest client(url());
  const ClaimAnswer reader = client.acquire(1, {.mode = shared, .lease = short_lease, .lock_delay = 1h});
  client.acquire(2, {.mode = permits(2, 3), .lease = short_lease, .lock_delay = 1h});
  ASSERT_EQ(reader.standing, granted);
  ASSERT_TRUE(test::eventually([&] { return client.look(2).standing == absent; }));
  EXPECT_EQ(client.acquire(3, {.mode = shared}).standing, granted) << "readers are in nobody's way but writers'";
  EXPECT_EQ(client.acquire(4).standing, waiting);
  EXPECT_EQ(client.acquire(5, {.mode = permits(1, 3)}).standing, granted);
  EXPECT_EQ(client.acquire(6, {.mode = permits(1, 3)}).standing, waiting);
  EXPECT_EQ(errc_of(client.try_acquire(7, {.mode = permits(1, 4)})), Errc::invalid_argument);
  EXPECT_TRUE(client.resize(4));
  EXPECT_TRUE(client.is_told_granted(6));
  client.release(3);
  EXPECT_EQ(client.look(4).standing, waiting);
}

TEST_P(LockDelays, CannotBeNegative) {
  BackendUnderTest client(url());
  EXPECT_EQ(errc_of(client.try_acquire(1, {.lock_delay = -1ms})), Errc::invalid_argument);
  EXPECT_EQ(client.acquire(1, {.lock_delay = milliseconds::max()}).standing, granted);
  EXPECT_EQ(client.renew(1).standing, granted);
  EXPECT_TRUE(client.release(1));
}

// --- where clients are processes ---

/// A client in a process of its own, which is killed. REQUIRES: no other client in this process while it is made.
class Mortal {
 public:
  Mortal(const std::string& url, const std::function<void(BackendUnderTest&)>& life) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    child_ = ::fork();
    if (child_ == 0) {
      ::alarm(60);
      auto& client = *new BackendUnderTest(url);
      life(client);
      const char done = testing::Test::HasFailure() ? 'n' : 'y';
      if (::write(ends[1], &done, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char done = 'n';
    lived_ = child_ > 0 && ::read(ends[0], &done, 1) == 1 && done == 'y';
    ::close(ends[0]);
  }
  ~Mortal() { die(); }
  Mortal(const Mortal&) = delete;
  Mortal& operator=(const Mortal&) = delete;

  bool lived() const { return lived_; }
  void die() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  pid_t child_ = -1;
  bool lived_ = false;
};

bool has_processes(const std::string& url) { return BackendUnderTest(url).traits().shared_between_processes; }

TEST_P(LockDelays, BeginWhenADeathIsNoticed) {
  if (!has_processes(url())) return;  // all clients die together: there is nobody left to ask
  Mortal holder(url(), [](BackendUnderTest& client) { client.acquire(1, {.lock_delay = delay}); });
  ASSERT_TRUE(holder.lived());
  BackendUnderTest next(url());
  ASSERT_EQ(next.acquire(2).standing, waiting);
  const base::Instant before = now();
  holder.die();
  if (!can().notices_deaths) {
    EXPECT_FALSE(test::eventually(delay, [&] { return next.list().at(0).holders.empty(); })) << "its lease decides";
    EXPECT_GT(next.look(2).check_after, delay);
    return;
  }
  EXPECT_TRUE(test::eventually([&] { return next.list().at(0).holders.empty(); }));
  EXPECT_TRUE(next.is_told_to_check(2));
  const ClaimAnswer wait = next.look(2);
  ASSERT_EQ(wait.standing, waiting);
  EXPECT_LE(wait.check_after, delay + 1ms);
  const auto hints = next.told().size();
  EXPECT_TRUE(test::eventually([&] { return next.look(2).standing == granted; })) << "long before its lease would end";
  EXPECT_GE(now(), before + delay);
  EXPECT_LE(next.told().size(), hints + 2) << "it is not told over and over about somebody dead";
}

TEST_P(LockDelays, OfTheDeadAreKeptByWhoeverComesLater) {
  if (!has_processes(url())) return;  // all clients die together: there is nobody left to ask
  Mortal holder(url(), [](BackendUnderTest& client) {
    client.acquire(1, {.lock_delay = delay});
    client.acquire(2, {.name = "without"});
    client.acquire(3, {.name = "short", .lease = 600ms, .lock_delay = 1h});
  });
  ASSERT_TRUE(holder.lived());
  holder.die();
  const base::Instant before = now();
  {
    BackendUnderTest passing(url());  // buries the dead when it enrolls
    EXPECT_EQ(passing.acquire(4, {.name = "elsewhere"}).standing, granted);
  }
  BackendUnderTest next(url());
  if (!can().notices_deaths) {
    EXPECT_EQ(next.acquire(5, {.name = "without", .when_busy = WhenBusy::refuse}).standing, absent);
    EXPECT_TRUE(test::eventually([&] { return next.list("short").empty(); })) << "its lease has ended";
    EXPECT_EQ(next.acquire(6, {.name = "short", .when_busy = WhenBusy::refuse}).standing, absent) << "its delay not";
    return;
  }
  EXPECT_EQ(next.acquire(5, {.name = "without", .when_busy = WhenBusy::refuse}).standing, granted);
  EXPECT_EQ(next.acquire(6, {.name = "short", .when_busy = WhenBusy::refuse}).standing, absent);
  EXPECT_EQ(next.evict("short"), 0U);
  EXPECT_EQ(next.acquire(6, {.name = "short", .when_busy = WhenBusy::refuse}).standing, granted);
  EXPECT_TRUE(test::eventually([&] { return next.acquire(7, {.when_busy = WhenBusy::refuse}).standing == granted; }));
  EXPECT_GE(now(), before + delay);
}

TEST_P(LockDelays, AreNotCutShortByAnOrderlyEnd) {
  BackendUnderTest next(url());
  {
    BackendUnderTest late(url());
    late.acquire(1, {.lease = short_lease, .lock_delay = 1h});
    ASSERT_TRUE(test::eventually([&] { return late.look(1).standing == absent; }));
  }
  EXPECT_EQ(next.acquire(2, {.when_busy = WhenBusy::refuse}).standing, absent);
  BackendUnderTest another(url());
  EXPECT_EQ(another.acquire(3, {.when_busy = WhenBusy::refuse}).standing, absent);
}

}  // namespace
}  // namespace holdfast::spi_suite
