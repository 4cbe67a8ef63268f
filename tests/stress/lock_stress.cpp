// Whole clients under random calls from many threads: every wait ends, nobody is inside with somebody else, and tokens
// rise. The threads of one client meet in a cell, those of several clients in the store.
#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <semaphore>

#include "holdfast/holdfast.hpp"
#include "stress/stress.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

/// What the lock protects: knows if two are inside, or if a later holder has an older token.
class Section {
 public:
  void visit(Token token) {
    if (inside_.exchange(true)) ++collisions;
    if (token <= last_) ++old_tokens;
    last_ = token;
    ++visits;
    inside_ = false;
  }

  std::atomic<long> collisions{0};
  std::atomic<long> old_tokens{0};
  std::atomic<long> visits{0};

 private:
  std::atomic<bool> inside_{false};
  Token last_;  // guarded by the lock under test
};

class LockStress : public testing::TestWithParam<int> {};

TEST_P(LockStress, EveryCallEndsAndNobodyMeets) {
  const std::string url = "memory:stress-" + std::to_string(GetParam());
  std::array<Client, 3> clients{Client(url), Client(url), Client(url, {.local_turns = 8})};
  std::array<Section, 2> sections;
  const std::array<const char*, 2> names{"one", "two"};
  std::atomic<long> lost_wake_ups{0};
  std::atomic<long> cancelled{0};
  std::atomic<long> refused{0};
  std::atomic<long> pending{0};

  hammer(GetParam(), [&](int thread, std::mt19937& random) {
    Client& client = clients[static_cast<std::size_t>(thread) % clients.size()];
    const std::size_t which = random() % names.size();
    Section& section = sections[which];
    Mutex mutex(client, names[which]);
    const auto began = std::chrono::steady_clock::now();
    switch (random() % 8) {
      case 0:
        if (auto hold = mutex.try_acquire()) {
          section.visit(hold->token());
        } else {
          ++refused;
        }
        break;
      case 1:
        if (mutex.try_lock_for(std::chrono::microseconds(random() % 500))) {
          section.visit(mutex.hold().token());
          mutex.unlock();
        } else {
          ++refused;
        }
        break;
      case 2: {
        std::stop_source stop;
        std::jthread canceller([&stop, delay = random() % 500] {
          std::this_thread::sleep_for(std::chrono::microseconds(delay));
          stop.request_stop();
        });
        try {
          const Hold hold = mutex.acquire(stop.get_token());
          section.visit(hold.token());
        } catch (const Error& error) {
          EXPECT_EQ(error.errc(), Errc::cancelled);
          ++cancelled;
        }
        break;
      }
      case 3: {
        ++pending;
        mutex.async_acquire([&](std::error_code error, Hold hold) {
          EXPECT_FALSE(error);
          section.visit(hold.token());
          hold = Hold();
          --pending;
        });
        break;
      }
      case 4: {
        Hold hold = mutex.acquire();
        section.visit(hold.token());
        EXPECT_EQ(hold.release(), Released::released);
        break;
      }
      default: {
        const std::scoped_lock lock(mutex);
        section.visit(mutex.hold().token());
        break;
      }
    }
    if (std::chrono::steady_clock::now() - began > longest_wait) ++lost_wake_ups;
  });

  EXPECT_TRUE(eventually([&] { return pending == 0; }));
  EXPECT_EQ(lost_wake_ups, 0);
  for (const Section& section : sections) {
    EXPECT_EQ(section.collisions, 0);
    EXPECT_EQ(section.old_tokens, 0);
    EXPECT_GT(section.visits, 0);
  }
  EXPECT_GT(cancelled + refused, 0);
  for (Client& client : clients) EXPECT_EQ(client.health().lost, 0U);
  EXPECT_TRUE(eventually([&] { return clients[0].list().empty(); })) << "nothing is left behind";
  std::printf("%d threads: %ld visits, %ld refused, %ld cancelled, %lu local turns\n", GetParam(),
              sections[0].visits + sections[1].visits, refused.load(), cancelled.load(),
              clients[0].health().local_turns);
}

INSTANTIATE_TEST_SUITE_P(Threads, LockStress, testing::Values(2, 8, 32, 64), testing::PrintToStringParamName());

/// Clients that are closed while their threads wait and hold: everybody is answered, and nothing hangs.
TEST(ClosingStress, EndsEveryCall) {
  const auto end = std::chrono::steady_clock::now() + stress_time();
  long rounds = 0;
  while (std::chrono::steady_clock::now() < end) {
    Client other("memory:closing");
    Mutex others_mutex(other, "name");
    auto client = std::make_unique<Client>("memory:closing");
    std::vector<std::jthread> threads;
    std::atomic<int> answered{0};
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&answered, mutex = std::make_unique<Mutex>(*client, "name")] {
        try {
          for (;;) const Hold hold = mutex->acquire();
        } catch (const Error& error) {
          EXPECT_EQ(error.errc(), Errc::closed);
          ++answered;
        }
      });
    }
    {
      const std::scoped_lock lock(others_mutex);
    }
    client.reset();
    ASSERT_TRUE(eventually([&] { return answered == 6; }));
    ++rounds;
  }
  EXPECT_GT(rounds, 0);
}

}  // namespace
}  // namespace holdfast::test
