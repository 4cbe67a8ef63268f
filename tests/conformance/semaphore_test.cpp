// Permits: how many are out, who is next, and what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"
#include "support/peer.hpp"
#include "support/room.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::errc_of;
using test::error_of;
using test::eventually;
using test::Recorder;
using test::Room;

constexpr LockKind semaphore = LockKind::semaphore;

/// A call that waits for some permits.
auto taking(Client& client, std::uint32_t permits, std::uint32_t total) {
  return [&client, permits, total](std::stop_token stop) {
    return Semaphore(client, "pool", total).acquire(permits, stop);
  };
}

std::uint32_t permits_out(const Client& client) {
  std::uint32_t out = 0;
  const auto status = client.show("pool", semaphore);
  if (!status) return 0;
  for (const ClaimStatus& holder : status->holders) out += holder.permits;
  return out;
}

// S01
TEST_P(SemaphoreConformance, NeverMoreThanTheTotalAreInside) {
  Room room;
  std::deque<Client> clients;
  for (int number = 0; number < 4; ++number) clients.push_back(open());
  std::vector<std::jthread> contenders;
  for (std::size_t number = 0; number < 100; ++number) {
    contenders.emplace_back([&, number] {
      Semaphore pool(clients[number % 4], "pool", 5);
      for (int round = 0; round < 2; ++round) {
        const Hold hold = pool.acquire();
        room.visit(5);
      }
    });
  }
  contenders.clear();
  EXPECT_EQ(room.most_readers, 5);
  EXPECT_TRUE(becomes_free(clients[0], "pool", semaphore));
}

// S01
TEST_P(ProcessSemaphoreConformance, NeverMoreThanTheTotalAreInsideInSeveralProcesses) {
  const test::SharedWithChildren<Room> room;
  std::vector<test::ForkedChild> children;
  for (int number = 0; number < 4; ++number) {
    children.emplace_back([&](test::ChildReport&) {
      Client client(url());
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&] {
          Semaphore pool(client, "pool", 3);
          for (int round = 0; round < 10; ++round) {
            const Hold hold = pool.acquire();
            room->visit(3);
          }
        });
      }
    });
  }
  for (auto& child : children) EXPECT_TRUE(child.succeeds());
  EXPECT_EQ(room->most_readers, 3);
}

// The same without a semaphore: the room sees that there are too many.
TEST(SemaphoreControl, WithoutASemaphoreThereAreTooMany) {
  Room room;
  std::vector<std::jthread> contenders;
  for (int number = 0; number < 20; ++number) {
    contenders.emplace_back([&] {
      for (int round = 0; round < 10; ++round) room.visit(6);
    });
  }
  contenders.clear();
  EXPECT_GT(room.most_readers, 5);
}

// S02
TEST_P(SemaphoreConformance, ReleasingOneAdmitsOne) {
  Client client = open();
  Client other = open();
  std::vector<Hold> holds;
  for (int number = 0; number < 3; ++number) holds.push_back(Semaphore(client, "pool", 3).acquire());
  std::deque<Client> clients;
  std::deque<Background<Hold>> waiters;
  for (std::size_t number = 0; number < 3; ++number) {
    waiters.emplace_back(taking(clients.emplace_back(open()), 1, 3));
    ASSERT_TRUE(line_becomes(other, "pool", number + 1, semaphore));
  }
  const auto admitted = [&] { return std::ranges::count_if(waiters, [](auto& waiter) { return waiter.finished(); }); };
  for (int number = 1; number <= 3; ++number) {
    EXPECT_EQ(holds.back().release(), Released::released);
    holds.pop_back();
    EXPECT_TRUE(eventually([&] { return admitted() == number; }));
    EXPECT_EQ(permits_out(other), 3u);
    EXPECT_FALSE(eventually(100ms, [&] { return admitted() > number; }));
  }
}

// S03
TEST_P(SemaphoreConformance, SeveralPermitsAreTakenAllAtOnceOrNotAtAll) {
  Client client = open();
  Client other = open();
  const Hold two = Semaphore(client, "pool", 5).acquire(2);
  EXPECT_EQ(two.permits(), 2u);
  EXPECT_EQ(two.mode(), ClaimMode::permits);
  EXPECT_FALSE(Semaphore(other, "pool", 5).try_acquire(4));
  EXPECT_EQ(permits_out(client), 2u) << "nothing was taken of what could be had";
  const auto three = Semaphore(other, "pool", 5).try_acquire(3);
  ASSERT_TRUE(three);
  EXPECT_EQ(permits_out(client), 5u);
  EXPECT_FALSE(Semaphore(client, "pool", 5).try_acquire());
}

// S03
TEST_P(SemaphoreConformance, AWaiterForManyIsNotOvertakenByThoseWhoWantFew) {
  Client client = open();
  Client patient = open();
  Client hasty = open();
  Hold first = Semaphore(client, "pool", 4).acquire(2);
  Hold second = Semaphore(client, "pool", 4).acquire(1);
  Background many(taking(patient, 4, 4));
  ASSERT_TRUE(line_becomes(client, "pool", 1, semaphore));
  EXPECT_FALSE(Semaphore(hasty, "pool", 4).try_acquire()) << "one is free, but somebody waits";
  EXPECT_FALSE(Semaphore(patient, "pool", 4).try_acquire());
  Background few(taking(hasty, 1, 4));
  ASSERT_TRUE(line_becomes(client, "pool", 2, semaphore));
  EXPECT_EQ(first.release(), Released::released);
  EXPECT_FALSE(few.finishes(200ms));
  EXPECT_FALSE(many.finished());
  EXPECT_EQ(second.release(), Released::released);
  Hold all = many.take();
  EXPECT_EQ(all.permits(), 4u);
  EXPECT_FALSE(few.finishes(200ms));
  all.release();
  EXPECT_TRUE(few.take().valid());
}

// S07
TEST_P(SemaphoreConformance, DifferentTotalsAreDetected) {
  Client client = open();
  Client other = open();
  Hold hold = Semaphore(client, "pool", 5).acquire();
  for (Client* somebody : {&client, &other}) {
    Semaphore pool(*somebody, "pool", 7);
    for (const auto& error : {error_of([&] { static_cast<void>(pool.acquire()); }),
                              error_of([&] { static_cast<void>(pool.try_acquire()); }),
                              error_of([&] { static_cast<void>(pool.try_acquire_for(1h)); })}) {
      ASSERT_TRUE(error);
      EXPECT_EQ(error->errc(), Errc::invalid_argument);
      EXPECT_NE(std::string(error->what()).find('5'), std::string::npos) << error->what();
      EXPECT_NE(std::string(error->what()).find('7'), std::string::npos) << error->what();
    }
  }
  EXPECT_TRUE(hold.valid());
  EXPECT_TRUE(Semaphore(other, "pool", 5).try_acquire());
  hold.release();
  ASSERT_TRUE(becomes_free(client, "pool", semaphore));
  EXPECT_TRUE(Semaphore(other, "pool", 7).try_acquire(7)) << "nobody believes in 5 any more";
}

// S07: a mistaken one does not take those along who wait with the right total.
TEST_P(SemaphoreConformance, AWrongTotalHarmsNobodyElseOfItsClient) {
  Client client = open();
  Client other = open();
  Hold hold = Semaphore(other, "pool", 2).acquire(2);
  Background right(taking(client, 1, 2));
  ASSERT_TRUE(line_becomes(other, "pool", 1, semaphore));
  Background wrong(taking(client, 1, 3));
  ASSERT_TRUE(waiting_becomes(client, 2));
  hold.release();
  EXPECT_EQ(right.error(), std::nullopt);
  EXPECT_EQ(wrong.error(), Errc::invalid_argument);
}

// S08
TEST_P(SemaphoreConformance, RaisingTheTotalAdmitsWaiters) {
  Client client = open();
  Client other = open();
  Semaphore pool(client, "pool", 2);
  const Hold hold = pool.acquire(2);
  Background waiter(taking(other, 2, 2));
  ASSERT_TRUE(line_becomes(client, "pool", 1, semaphore));
  pool.resize(3);
  EXPECT_EQ(pool.total(), 3u);
  EXPECT_FALSE(waiter.finishes(200ms));
  pool.resize(4);
  EXPECT_TRUE(waiter.take().valid());
  EXPECT_EQ(client.show("pool", semaphore).value().total, 4u);
}

// S08
TEST_P(SemaphoreConformance, LoweringTheTotalRevokesNobody) {
  Client client = open();
  Semaphore pool(client, "pool", 4);
  std::vector<Hold> holds;
  for (int number = 0; number < 4; ++number) holds.push_back(pool.acquire());
  pool.resize(2);
  for (const Hold& hold : holds) EXPECT_TRUE(hold.valid());
  EXPECT_EQ(permits_out(client), 4u);
  for (std::size_t left = 4; left > 2; --left) {
    EXPECT_FALSE(pool.try_acquire());
    EXPECT_EQ(holds.back().release(), Released::released);
    holds.pop_back();
  }
  EXPECT_FALSE(pool.try_acquire()) << "two of two are out";
  EXPECT_EQ(holds.back().release(), Released::released);
  EXPECT_TRUE(pool.try_acquire());
}

// S08
TEST_P(SemaphoreConformance, ThoseWhoBelieveInTheOldTotalAreRefusedUntilTheyAreResized) {
  Client client = open();
  Client other = open();
  Semaphore pool(client, "pool", 2);
  Semaphore old(other, "pool", 2);
  const Hold hold = pool.acquire();
  pool.resize(3);
  EXPECT_EQ(errc_of([&] { static_cast<void>(old.try_acquire()); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { static_cast<void>(old.acquire()); }), Errc::invalid_argument);
  old.resize(3);
  EXPECT_TRUE(old.try_acquire(2));
  EXPECT_TRUE(hold.valid());
}

// S08: one who waits for more than there will ever be.
TEST_P(SemaphoreConformance, AWaiterForMoreThanTheNewTotalIsToldSo) {
  Client client = open();
  Client other = open();
  Semaphore pool(client, "pool", 4);
  const Hold hold = pool.acquire();
  Background waiter(taking(other, 4, 4));
  ASSERT_TRUE(line_becomes(client, "pool", 1, semaphore));
  pool.resize(2);
  EXPECT_EQ(waiter.error(), Errc::invalid_argument);
  EXPECT_TRUE(line_becomes(client, "pool", 0, semaphore));
  EXPECT_TRUE(pool.try_acquire());
}

// S09
TEST_P(SemaphoreConformance, WhoeverGivesUpWaitingLeavesNothing) {
  Client client = open();
  Client other = open();
  const Hold hold = Semaphore(client, "pool", 4).acquire(1);
  {
    Background waiter(taking(other, 4, 4));
    ASSERT_TRUE(line_becomes(client, "pool", 1, semaphore));
    waiter.cancel();
    EXPECT_EQ(waiter.error(), Errc::cancelled);
  }
  const auto begin = steady_clock::now();
  EXPECT_FALSE(Semaphore(other, "pool", 4).try_acquire_for(200ms, 4));
  EXPECT_GE(steady_clock::now() - begin, 200ms);
  EXPECT_FALSE(Semaphore(other, "pool", 4).try_acquire_until(steady_clock::now() + 200ms, 4));
  EXPECT_FALSE(Semaphore(other, "pool", 4).try_acquire(4));
  EXPECT_TRUE(line_becomes(client, "pool", 0, semaphore));
  EXPECT_EQ(permits_out(client), 1u);
  EXPECT_TRUE(Semaphore(other, "pool", 4).try_acquire(3)) << "all that is left can be had";
  EXPECT_EQ(other.health().waiting, 0u);
}

// S09: whoever stood behind the one who gave up does not wait any longer.
TEST_P(SemaphoreConformance, ThoseBehindAWaiterWhoGivesUpAreServed) {
  Client client = open();
  Client first = open();
  Client second = open();
  const Hold hold = Semaphore(client, "pool", 4).acquire(1);
  Background many(taking(first, 4, 4));
  ASSERT_TRUE(line_becomes(client, "pool", 1, semaphore));
  Background few(taking(second, 2, 4));
  ASSERT_TRUE(line_becomes(client, "pool", 2, semaphore));
  many.cancel();
  EXPECT_TRUE(few.take().valid());
  EXPECT_EQ(many.error(), Errc::cancelled);
}

// S10
TEST_P(SemaphoreConformance, CanBeDrainedAndRefilledAgainAndAgain) {
  Client client = open();
  Client other = open();
  for (int round = 0; round < 5; ++round) {
    std::vector<Hold> holds;
    for (int number = 0; number < 10; ++number) {
      holds.push_back(Semaphore(number % 2 == 0 ? client : other, "pool", 10).acquire());
    }
    EXPECT_FALSE(Semaphore(other, "pool", 10).try_acquire());
    for (Hold& hold : holds) EXPECT_EQ(hold.release(), Released::released);
    EXPECT_FALSE(client.show("pool", semaphore));
  }
}

TEST_P(SemaphoreConformance, ASemaphoreAndALockOfOneNameAreDifferentThings) {
  Client client = open();
  const Hold lock = Mutex(client, "pool").acquire();
  const Hold permit = Semaphore(client, "pool", 1).acquire();
  EXPECT_EQ(client.show("pool").value().holders.at(0).mode, ClaimMode::exclusive);
  EXPECT_EQ(client.show("pool", semaphore).value().holders.at(0).mode, ClaimMode::permits);
  EXPECT_EQ(client.list("pool").size(), 2u);
  EXPECT_TRUE(client.evict("pool", semaphore));
  EXPECT_TRUE(eventually([&] { return permit.state() == HoldState::lost; }));
  EXPECT_TRUE(lock.valid());
}

TEST_P(SemaphoreConformance, ImpossibleNumbersAreRefused) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { Semaphore(client, "pool", 0); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Semaphore(client, "pool", Semaphore::max_total + 1); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Semaphore(client, "pool", 3, {.ttl = 0ms}); }), Errc::invalid_argument);
  Semaphore pool(client, "pool", 3);
  for (const std::uint32_t permits : {0u, 4u}) {
    EXPECT_EQ(errc_of([&] { static_cast<void>(pool.acquire(permits)); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { static_cast<void>(pool.try_acquire(permits)); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { static_cast<void>(pool.try_acquire_for(1s, permits)); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { pool.async_acquire(permits, [](std::error_code, const Hold&) {}); }),
              Errc::invalid_argument);
  }
  EXPECT_EQ(errc_of([&] { static_cast<void>(pool.try_acquire_for(-1s)); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { pool.resize(0); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { pool.resize(Semaphore::max_total + 1); }), Errc::invalid_argument);
  EXPECT_EQ(pool.total(), 3u);
  EXPECT_TRUE(Semaphore(client, "pool", Semaphore::max_total).try_acquire(Semaphore::max_total));
}

// What a store without permits answers.
TEST_P(NoSemaphoreConformance, IsRefusedWithTheReason) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { static_cast<void>(Semaphore(client, "pool", 3).acquire()); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { static_cast<void>(Semaphore(client, "pool", 3).try_acquire()); }), Errc::unsupported);
}

}  // namespace
}  // namespace holdfast::conformance
