// Nobody goes on before all have arrived.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;

using Arrival = Background<std::uint64_t>;

std::unique_ptr<Arrival> arrival(Client& client, std::uint32_t parties, LockOptions options = {}) {
  return std::make_unique<Arrival>([&client, parties, options](std::stop_token stop) {
    return Barrier(client, "step", parties, options).arrive_and_wait(stop);
  });
}

/// Whether `count` parties of this client come to stand at a barrier.
bool stand(const Client& client, std::size_t count) {
  return eventually([&] { return client.health().holds == count; });
}

TEST_P(BarrierConformance, PartiesGoInLockStep) {
  constexpr int parties = 4;
  constexpr int phases = 20;
  std::atomic<int> in_phase[phases + 1] = {};
  std::atomic<bool> ahead = false;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < parties; ++number) {
      threads.emplace_back([&] {
        Client client = open();
        Barrier barrier(client, "step", parties);
        for (int phase = 0; phase < phases; ++phase) {
          ++in_phase[phase];
          EXPECT_EQ(barrier.arrive_and_wait(), static_cast<std::uint64_t>(phase) + 1);
          if (in_phase[phase] != parties) ahead = true;
        }
      });
    }
  }
  EXPECT_FALSE(ahead) << "somebody went on before all had arrived";
}

TEST_P(BarrierConformance, PartiesOfOneClientGoInLockStep) {
  constexpr int parties = 4;
  Client client = open();
  std::atomic<int> in_phase[10] = {};
  std::atomic<bool> ahead = false;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < parties; ++number) {
      threads.emplace_back([&] {
        Barrier barrier(client, "step", parties);
        for (auto& here : in_phase) {
          ++here;
          barrier.arrive_and_wait();
          if (here != parties) ahead = true;
        }
      });
    }
  }
  EXPECT_FALSE(ahead);
}

TEST_P(ProcessSemaphoreConformance, ProcessesGoInLockStepThroughABarrier) {
  constexpr int parties = 4;
  std::vector<ForkedChild> children;
  for (int number = 0; number < parties; ++number) {
    children.emplace_back([&](ChildReport& report) {
      Client client(url());
      Barrier barrier(client, "step", parties);
      for (int phase = 0; phase < 20; ++phase) {
        Register arrived(client, "arrived/" + std::to_string(phase));
        arrived.add(1);
        const auto complete = barrier.arrive_and_wait_for(30s);
        report.expect(complete == static_cast<std::uint64_t>(phase) + 1, "the phase is complete in time");
        report.expect(arrived.get().value == std::to_string(parties), "all have arrived");
        if (!complete) return;
      }
    });
  }
  for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
}

TEST_P(BarrierConformance, OnePartyIsCompleteByItself) {
  Client client = open();
  Barrier barrier(client, "step", 1);
  for (std::uint64_t phase = 1; phase <= 3; ++phase) EXPECT_EQ(barrier.arrive_and_wait(), phase);
  EXPECT_EQ(barrier.arrive_and_wait_for(test::patience), 4u);
}

TEST_P(BarrierConformance, APartyThatGivesUpHasLeft) {
  Client client = open();
  Client other = open();
  Barrier barrier(client, "step", 2);
  EXPECT_FALSE(barrier.arrive_and_wait_for(300ms));
  EXPECT_TRUE(stand(client, 0));
  EXPECT_FALSE(Barrier(other, "step", 2).arrive_and_wait_for(300ms)) << "the first is not there any more";
  const auto first = arrival(client, 2);
  const auto second = arrival(other, 2);
  EXPECT_EQ(first->take(), 1u) << "when it comes back it is counted once";
  EXPECT_EQ(second->take(), 1u);
}

TEST_P(BarrierConformance, APartyThatIsCancelledHasLeft) {
  Client client = open();
  Client other = open();
  const auto cancelled = arrival(client, 2);
  ASSERT_TRUE(stand(client, 1));
  cancelled->cancel();
  EXPECT_EQ(cancelled->error(), Errc::cancelled);
  EXPECT_TRUE(stand(client, 0));
  EXPECT_FALSE(Barrier(other, "step", 2).arrive_and_wait_for(300ms));
  const auto first = arrival(client, 2);
  EXPECT_EQ(Barrier(other, "step", 2).arrive_and_wait(), 1u);
  EXPECT_EQ(first->take(), 1u);
}

// Whoever went on went on together: a party that was told it had left was not counted.
/// What became of an arrival. Unknown: the store was slower than the party was patient.
struct HastyArrival {
  std::optional<std::uint64_t> phase = {};
  bool unknown = false;
};

HastyArrival arrive_within(Barrier& barrier, std::chrono::microseconds wait) {
  try {
    return {.phase = barrier.arrive_and_wait_for(wait)};
  } catch (const Error& error) {
    if (error.errc() != Errc::unreachable && error.errc() != Errc::in_doubt) throw;
    return {.unknown = true};
  }
}

TEST_P(BarrierConformance, APartyThatGivesUpWhileTheLastArrivesHasLeftOrGoesOn) {
  Client client = open();
  Client other = open();
  Barrier hasty(client, "step", 2);
  Barrier patient(other, "step", 2);
  std::minstd_rand random(17);
  EXPECT_FALSE(arrive_within(hasty, 0us).phase);
  int gave_up = 0;
  for (test::Rounds rounds(60); rounds.next();) {
    Background waiting([&](std::stop_token stop) { return patient.arrive_and_wait(stop); });
    if (rounds.done() % 2 == 0) {
      ASSERT_TRUE(stand(other, 1));
    }
    const auto [went_on, unknown] = arrive_within(hasty, std::chrono::microseconds(random() % 10'000));
    if (unknown) continue;  // perhaps it is counted, perhaps not
    if (went_on) {
      EXPECT_EQ(waiting.take(), *went_on);
      continue;
    }
    ++gave_up;
    EXPECT_FALSE(waiting.finishes(20ms)) << "round " << rounds.done() << ": it went on without the other";
    waiting.cancel();
    EXPECT_EQ(waiting.error(), Errc::cancelled) << "round " << rounds.done();
  }
  RecordProperty("gave_up", gave_up);
}

TEST_P(ProcessSemaphoreConformance, APartyThatWasKilledWhileItWaitedIsNotCounted) {
  ForkedChild party([&](ChildReport&) {
    Client client(url());
    const auto waiting = arrival(client, 2, {.ttl = short_ttl()});
    if (stand(client, 1)) Register(client, "arrived").set("yes");
    waiting->finishes(60s);
  });
  Client client = open();
  ASSERT_TRUE(Register(client, "arrived").wait_for_change_for(0, test::patience));
  party.kill();
  const auto end = std::chrono::steady_clock::now() + short_ttl() + can().takeover_slack + 200ms;
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() > end; }));
  Barrier barrier(client, "step", 2);
  EXPECT_FALSE(barrier.arrive_and_wait_for(500ms)) << "a dead one was counted";
  Client other = open();
  const auto second = arrival(other, 2);
  EXPECT_EQ(barrier.arrive_and_wait(), 1u);
  EXPECT_EQ(second->take(), 1u);
}

TEST_P(BarrierConformance, ThoseAboveTheNumberAreCountedForTheNextPhase) {
  Client client = open();
  std::vector<std::unique_ptr<Arrival>> arrivals;
  for (int number = 0; number < 5; ++number) arrivals.push_back(arrival(client, 2));
  const auto finished = [&] {
    return std::count_if(arrivals.begin(), arrivals.end(), [](const auto& one) { return one->finished(); });
  };
  EXPECT_TRUE(eventually([&] { return finished() == 4; }));
  EXPECT_TRUE(stand(client, 1));
  Client other = open();
  EXPECT_EQ(Barrier(other, "step", 2).arrive_and_wait(), 3u);
  std::vector<std::uint64_t> phases;
  for (const auto& one : arrivals) phases.push_back(one->take());
  std::sort(phases.begin(), phases.end());
  EXPECT_EQ(phases, (std::vector<std::uint64_t>{1, 1, 2, 2, 3}));
}

TEST_P(BarrierConformance, ADifferentNumberOfPartiesIsRefusedWhileOthersWait) {
  Client client = open();
  Client other = open();
  const auto first = arrival(client, 3);
  ASSERT_TRUE(stand(client, 1));
  EXPECT_EQ(errc_of([&] { Barrier(other, "step", 2).arrive_and_wait(); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Barrier(client, "step", 4).arrive_and_wait_for(1s); }), Errc::invalid_argument);
  EXPECT_FALSE(first->finished());
  const auto second = arrival(other, 3);
  EXPECT_EQ(Barrier(client, "step", 3).arrive_and_wait(), 1u);
  EXPECT_EQ(first->take(), 1u);
  EXPECT_EQ(second->take(), 1u);
  EXPECT_EQ(Barrier(other, "step", 1).arrive_and_wait(), 2u) << "nobody waits";
}

TEST_P(BarrierConformance, BadArgumentsAreRefused) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { Barrier(client, "step", 0); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Barrier(client, "step", Barrier::max_parties + 1); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Barrier(client, "step", 2, {.ttl = 1ms}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Barrier(client, "", 2); }), Errc::invalid_argument);
}

TEST_P(BarrierConformance, ClosingEndsTheWaitAndThePartyHasLeft) {
  Client client = open();
  Client other = open();
  Barrier barrier(client, "step", 2);
  const auto closed = arrival(client, 2);
  ASSERT_TRUE(stand(client, 1));
  client.close();
  EXPECT_EQ(closed->error(), Errc::closed);
  EXPECT_EQ(errc_of([&] { barrier.arrive_and_wait(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { barrier.arrive_and_wait_for(1s); }), Errc::closed);
  EXPECT_FALSE(Barrier(other, "step", 2).arrive_and_wait_for(300ms));
}

TEST_P(BarrierConformance, IsAnotherThingThanALockOfItsName) {
  Client client = open();
  const Hold lock = Mutex(client, "step").acquire();
  const Hold permit = Semaphore(client, "step", 1).acquire();
  Register(client, "step").set("mine");
  EXPECT_EQ(Barrier(client, "step", 1).arrive_and_wait(), 1u);
  EXPECT_EQ(Register(client, "step").get().value, "mine");
  EXPECT_TRUE(lock.valid());
  EXPECT_TRUE(permit.valid());
}

}  // namespace
}  // namespace holdfast::conformance
