// Many at once.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

/// Runs `work(client, number)` on `threads` threads that take turns among the clients, until all are done.
template <class Work>
void on_threads_of(std::deque<Client>& clients, std::size_t threads, Work work) {
  std::vector<std::jthread> running;
  for (std::size_t number = 0; number < threads; ++number) {
    running.emplace_back([&clients, &work, number] {
      try {
        work(clients[number % clients.size()], number);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "thread " << number << ": " << error.what();
      }
    });
  }
}

std::deque<Client> several(const std::string& url, int count) {
  std::deque<Client> clients;
  for (int number = 0; number < count; ++number) clients.emplace_back(url);
  return clients;
}

/// Runs `attempt`, which may end without an answer: on a busy machine a store may take longer than a try waits.
template <class Attempt>
void unless_too_slow(Attempt attempt) {
  const auto error = test::error_of(attempt);
  if (error && error->code() != Errc::unreachable && error->code() != Errc::in_doubt) throw *error;
}

// M09
TEST_P(MutexConformance, CountsUnderTheLockInOneClient) {
  std::deque<Client> clients = several(url(), 1);
  int counter = 0;
  on_threads_of(clients, 32, [&](Client& client, std::size_t) {
    Mutex mutex(client, "counter");
    for (int round = 0; round < 50; ++round) {
      const std::scoped_lock lock(mutex);
      ++counter;
    }
  });
  EXPECT_EQ(counter, 32 * 50);
}

// M09
TEST_P(MutexConformance, CountsUnderTheLockInSeveralClients) {
  std::deque<Client> clients = several(url(), 4);
  int counter = 0;
  on_threads_of(clients, 32, [&](Client& client, std::size_t) {
    Mutex mutex(client, "counter");
    for (int round = 0; round < 50; ++round) {
      const std::scoped_lock lock(mutex);
      ++counter;
    }
  });
  EXPECT_EQ(counter, 32 * 50);
}

// M09: by whatever call each of them prefers.
TEST_P(MutexConformance, CountsUnderTheLockHoweverItIsTaken) {
  std::deque<Client> clients = several(url(), 3);
  int counter = 0;
  on_threads_of(clients, 24, [&](Client& client, std::size_t number) {
    Mutex mutex(client, "counter");
    RecursiveMutex recursive(client, "counter");
    for (int round = 0; round < 30;) {
      switch (number % 6) {
        case 0: {
          const Hold hold = mutex.acquire();
          ++counter, ++round;
          break;
        }
        case 1: {
          const std::scoped_lock lock(mutex);
          ++counter, ++round;
          break;
        }
        case 2: {
          const std::scoped_lock lock(recursive);
          ++counter, ++round;
          break;
        }
        case 3: {
          unless_too_slow([&] {
            const std::unique_lock lock(mutex, std::try_to_lock);
            if (!lock) std::this_thread::yield();
            if (lock) ++counter, ++round;
          });
          break;
        }
        case 4: {
          unless_too_slow([&] {
            const auto hold = mutex.try_acquire_for(100ms);
            if (hold) ++counter, ++round;
          });
          break;
        }
        default: {
          Hold hold = mutex.acquire();
          ++counter, ++round;
          EXPECT_NE(hold.release(), Released::not_held);
          break;
        }
      }
    }
  });
  EXPECT_EQ(counter, 24 * 30);
}

// M10
TEST_P(MutexConformance, NeverTwoInside) {
  std::deque<Client> clients = several(url(), 5);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> times = 0;
  on_threads_of(clients, 100, [&](Client& client, std::size_t) {
    Mutex mutex(client, "section");
    for (int round = 0; round < 3; ++round) {
      const Hold hold = mutex.acquire();
      most = std::max(most.load(), ++inside);
      std::this_thread::yield();
      EXPECT_TRUE(hold.valid());
      --inside;
      ++times;
    }
  });
  EXPECT_EQ(most, 1);
  EXPECT_EQ(times, 300);
}

// M11
TEST_P(MutexConformance, ExactlyOneOfManyTriesWins) {
  std::deque<Client> clients = several(url(), 4);
  for (int round = 0; round < 10; ++round) {
    const LockName name("round/" + std::to_string(round));
    test::Recorder<Hold> won;
    std::barrier together(20);
    on_threads_of(clients, 20, [&](Client& client, std::size_t) {
      Mutex mutex(client, name);
      together.arrive_and_wait();
      if (auto hold = mutex.try_acquire()) won.add(std::move(*hold));
    });
    EXPECT_EQ(won.size(), 1u) << "round " << round;
  }
}

// M56: many locks over one connection, taken in a common order.
TEST_P(MutexConformance, ManyThreadsTakeSeveralLocksOverOneClient) {
  std::deque<Client> clients = several(url(), 1);
  std::vector<int> counters(5, 0);
  on_threads_of(clients, 32, [&](Client& client, std::size_t number) {
    for (int round = 0; round < 5; ++round) {
      std::vector<Hold> holds;
      for (std::size_t lock = 0; lock < 5; ++lock) {
        if ((number + lock) % 3 == 0) continue;
        holds.push_back(Mutex(client, "lock/" + std::to_string(lock)).acquire());
        ++counters[lock];
      }
    }
  });
  int total = 0;
  for (const int counter : counters) total += counter;
  int expected = 0;
  for (std::size_t number = 0; number < 32; ++number) {
    for (std::size_t lock = 0; lock < 5; ++lock) expected += (number + lock) % 3 == 0 ? 0 : 5;
  }
  EXPECT_EQ(total, expected);
  EXPECT_EQ(clients[0].health().holds, 0u);
  for (int lock = 0; lock < 5; ++lock) EXPECT_TRUE(becomes_free(clients[0], "lock/" + std::to_string(lock)));
}

TEST_P(MutexConformance, IndependentLocksAreTakenSideBySide) {
  std::deque<Client> clients = several(url(), 2);
  std::atomic<int> granted = 0;
  on_threads_of(clients, 16, [&](Client& client, std::size_t number) {
    Mutex mutex(client, "own/" + std::to_string(number));
    for (int round = 0; round < 50; ++round) {
      const std::unique_lock lock(mutex, std::try_to_lock);
      if (lock) ++granted;
    }
  });
  EXPECT_EQ(granted, 16 * 50);
}

// A client's objects may be used by all threads at once.
TEST_P(ClientConformance, MayBeAskedFromManyThreads) {
  std::deque<Client> clients = several(url(), 1);
  const Hold hold = Mutex(clients[0], "held").acquire();
  on_threads_of(clients, 8, [&](Client& client, std::size_t number) {
    for (int round = 0; round < 20; ++round) {
      EXPECT_TRUE(client.show("held").has_value());
      EXPECT_GE(client.health().holds, 1u);
      EXPECT_TRUE(hold.valid());
      EXPECT_GT(hold.remaining(), 0s);
      EXPECT_EQ(hold.state(), HoldState::held);
      EXPECT_FALSE(client.evict("nobody/" + std::to_string(number)));
      EXPECT_EQ(client.traits().fifo, can().fifo);
    }
  });
}

}  // namespace
}  // namespace holdfast::conformance
