// Who is next, readers or writers; and how many readers are one to the store.

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"
#include "support/room.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::eventually;
using test::Room;

/// A call that waits as a reader, and one that waits as a writer.
auto reading(Client& client) {
  return [&client](std::stop_token stop) { return SharedMutex(client, "list").acquire_shared(stop); };
}
auto writing(Client& client) {
  return [&client](std::stop_token stop) { return SharedMutex(client, "list").acquire(stop); };
}

// RW05
TEST_P(SharedMutexConformance, AWaitingWriterKeepsNewReadersOfOtherClientsOut) {
  Client client = open();
  Client writers = open();
  Client other = open();
  Hold first = SharedMutex(client, "list").acquire_shared();
  Background writer(writing(writers));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  EXPECT_FALSE(SharedMutex(other, "list").try_acquire_shared());
  Background reader(reading(other));
  ASSERT_TRUE(line_becomes(client, "list", 2));
  first.release();
  Hold written = writer.take();
  EXPECT_FALSE(reader.finishes(200ms));
  EXPECT_TRUE(written.valid());
  written.release();
  EXPECT_TRUE(reader.take().valid());
}

// RW05
TEST_P(SharedMutexConformance, AWaitingWriterKeepsNewReadersOfItsOwnClientOut) {
  Client other = open();
  Client client = open();
  Hold first = SharedMutex(other, "list").acquire_shared();
  Background writer(writing(client));
  ASSERT_TRUE(line_becomes(other, "list", 1));
  EXPECT_FALSE(SharedMutex(client, "list").try_acquire_shared());
  EXPECT_FALSE(SharedMutex(client, "list").try_lock_shared());
  Background reader(reading(client));
  ASSERT_TRUE(waiting_becomes(client, 2));
  first.release();
  Hold written = writer.take();
  EXPECT_FALSE(reader.finishes(200ms));
  written.release();
  EXPECT_TRUE(reader.take().valid());
}

// RW05: the readers' own client lets others join, but only for a moment.
TEST_P(SharedMutexConformance, AWaitingWriterSoonKeepsNewReadersOfTheReadersClientOut) {
  Client client = open();
  Client other = open();
  Hold first = SharedMutex(client, "list").acquire_shared();
  Background writer(writing(other));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  EXPECT_TRUE(eventually([&] { return !SharedMutex(client, "list").try_acquire_shared(); }));
  EXPECT_TRUE(first.valid());
  EXPECT_FALSE(writer.finished());
  first.release();
  EXPECT_TRUE(writer.take().valid());
}

// RW05: a writer that gives up is in nobody's way any more.
TEST_P(SharedMutexConformance, ReadersEnterWhenTheWaitingWriterGivesUp) {
  Client client = open();
  Client writers = open();
  Client other = open();
  const Hold first = SharedMutex(client, "list").acquire_shared();
  Background writer(writing(writers));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  Background reader(reading(other));
  Background beside_the_writer(reading(writers));
  ASSERT_TRUE(waiting_becomes(writers, 2));
  ASSERT_TRUE(line_becomes(client, "list", 2));
  writer.cancel();
  EXPECT_EQ(writer.error(), Errc::cancelled);
  EXPECT_TRUE(reader.take().valid());
  EXPECT_TRUE(beside_the_writer.take().valid());
  EXPECT_TRUE(first.valid());
}

// RW06
TEST_P(SharedMutexConformance, ReadersBehindAWriterEnterTogether) {
  Client client = open();
  Hold writer = SharedMutex(client, "list").acquire();
  std::deque<Client> clients;
  std::deque<Background<Hold>> readers;
  for (std::size_t number = 0; number < 5; ++number) {
    readers.emplace_back(reading(clients.emplace_back(open())));
    ASSERT_TRUE(line_becomes(client, "list", number + 1));
  }
  writer.release();
  std::vector<Hold> together;
  for (auto& reader : readers) together.push_back(reader.take());
  for (const Hold& hold : together) EXPECT_TRUE(hold.valid());
  EXPECT_EQ(client.show("list").value().holders.size(), 5u);
}

// RW06, RW16: to the store they are one, and only one waits there.
TEST_P(SharedMutexConformance, AHundredReadersOfOneClientEnterTogetherWithOneClaim) {
  Client other = open();
  Client client = open();
  Hold writer = SharedMutex(other, "list").acquire();
  std::deque<Background<Hold>> readers;
  for (int number = 0; number < 100; ++number) readers.emplace_back(reading(client));
  ASSERT_TRUE(waiting_becomes(client, 100));
  ASSERT_TRUE(line_becomes(other, "list", 1));
  writer.release();
  std::vector<Hold> together;
  for (auto& reader : readers) together.push_back(reader.take());
  for (const Hold& hold : together) EXPECT_TRUE(hold.valid());
  const Health health = client.health();
  EXPECT_EQ(health.holds, 100u);
  EXPECT_EQ(health.grants, 1u);
  EXPECT_EQ(health.local_turns, 99u);
  EXPECT_EQ(other.show("list").value().holders.size(), 1u);
  together.clear();
  EXPECT_TRUE(becomes_free(other, "list"));
}

// RW06: a writer between them divides them.
TEST_P(FifoConformance, AWriterBetweenReadersIsServedBetweenThem) {
  Client client = open();
  Client before = open();
  Client between = open();
  Client after = open();
  Hold writer = SharedMutex(client, "list").acquire();
  Background first(reading(before));
  ASSERT_TRUE(line_becomes(client, "list", 1));
  Background second(writing(between));
  ASSERT_TRUE(line_becomes(client, "list", 2));
  Background third(reading(after));
  ASSERT_TRUE(line_becomes(client, "list", 3));
  writer.release();
  Hold hold = first.take();
  EXPECT_FALSE(second.finishes(200ms));
  EXPECT_FALSE(third.finished());
  hold.release();
  hold = second.take();
  EXPECT_FALSE(third.finishes(200ms));
  hold.release();
  EXPECT_TRUE(third.take().valid());
}

TEST_P(SharedMutexConformance, SixteenReadersOfOneClientAreOneHolderToTheStore) {
  Client client = open();
  Client other = open();
  std::vector<Hold> holds;
  for (int number = 0; number < 16; ++number) holds.push_back(SharedMutex(client, "list").acquire_shared());
  EXPECT_EQ(client.health().holds, 16u);
  ASSERT_TRUE(holders_become(other, "list", 1));
  EXPECT_EQ(client.health().grants + client.health().local_turns, 16u);
  for (std::size_t left = 16; left > 1; --left) {
    EXPECT_EQ(holds.back().release(), Released::released);
    holds.pop_back();
    EXPECT_FALSE(SharedMutex(other, "list").try_acquire()) << left << " were left";
  }
  EXPECT_EQ(holds.back().release(), Released::released);
  EXPECT_TRUE(SharedMutex(other, "list").try_acquire());
}

// Without local turns every reader is the store's own.
TEST_P(SharedMutexConformance, WithoutLocalTurnsEveryReaderHasAClaimOfItsOwn) {
  Client client = open({.local_turns = 0});
  std::deque<Background<Hold>> readers;
  Hold writer = SharedMutex(client, "list").acquire();
  for (int number = 0; number < 4; ++number) readers.emplace_back(reading(client));
  ASSERT_TRUE(waiting_becomes(client, 4));
  writer.release();
  for (auto& reader : readers) EXPECT_TRUE(reader.take().valid());
  EXPECT_EQ(client.health().local_turns, 0u);
  EXPECT_EQ(client.health().grants, 5u);
}

// Each of them overlaps the next, so there is always a reader.
TEST_P(SharedMutexConformance, AStreamOfLocalReadersDoesNotStarveAWriterOfAnotherClient) {
  Client client = open();
  Client other = open();
  std::atomic<int> inside = 0;
  std::atomic<int> turns = 0;
  std::deque<Background<void>> stream;
  for (int number = 0; number < 4; ++number) {
    stream.emplace_back([&](std::stop_token stop) {
      SharedMutex mutex(client, "list");
      while (!stop.stop_requested()) {
        const Hold hold = mutex.acquire_shared(stop);
        const int seen = ++turns;
        ++inside;
        eventually(20ms, [&] { return turns > seen; });  // leaves when the next has come
        --inside;
      }
    });
  }
  ASSERT_TRUE(eventually([&] { return turns > 100 && inside > 1; }));
  for (int round = 0; round < 3; ++round) {
    Background writer(writing(other));
    const Hold hold = writer.take();
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(inside, 0);
  }
}

TEST_P(SharedMutexConformance, AStreamOfLocalWritersDoesNotStarveAReaderOfAnotherClient) {
  Client client = open();
  Client other = open();
  std::atomic<int> turns = 0;
  std::deque<Background<void>> stream;
  for (int number = 0; number < 4; ++number) {
    stream.emplace_back([&](std::stop_token stop) {
      SharedMutex mutex(client, "list");
      while (!stop.stop_requested()) {
        const Hold hold = mutex.acquire(stop);
        ++turns;
      }
    });
  }
  ASSERT_TRUE(eventually([&] { return turns > 100; }));
  for (int round = 0; round < 3; ++round) {
    Background reader(reading(other));
    EXPECT_TRUE(reader.take().valid());
  }
}

/// One of those who read most of the time and sometimes write.
template <class Mutex, class Token>
void mix(Room& room, Mutex& mutex, int seed, Token token) {
  for (int round = 0; round < 100; ++round) {
    if ((round + seed) % 10 == 0) {
      const std::unique_lock lock(mutex);
      room.write(token());
    } else {
      const std::shared_lock lock(mutex);
      room.read(token());
    }
  }
}

void mix(Room& room, Client& client, int seed) {
  SharedMutex mutex(client, "list");
  mix(room, mutex, seed, [&] { return mutex.hold().token().value(); });
}

void expect_order(const Room& room) {
  EXPECT_GT(room.most_readers, 1);
  EXPECT_EQ(room.most_writers, 1);
  EXPECT_FALSE(room.both);
  EXPECT_FALSE(room.tokens_were_wrong);
}

// RW07, RW14
TEST_P(SharedMutexConformance, ReadersMeetEachOtherAndNeverAWriter) {
  Room room;
  Client first = open();
  Client second = open();
  std::vector<std::jthread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] { mix(room, number % 2 == 0 ? first : second, number); });
  }
  threads.clear();
  expect_order(room);
  EXPECT_EQ(room.counter, 80);
}

// RW07, RW14
TEST_P(ProcessSharedMutexConformance, ReadersMeetEachOtherAndNeverAWriterInSeveralProcesses) {
  const test::SharedWithChildren<Room> room;
  std::vector<test::ForkedChild> children;
  for (int number = 0; number < 4; ++number) {
    children.emplace_back([&, number](test::ChildReport&) {
      Client client(url());
      std::jthread other([&] { mix(*room, client, number + 5); });
      mix(*room, client, number);
    });
  }
  for (auto& child : children) EXPECT_TRUE(child.succeeds());
  expect_order(*room);
  EXPECT_EQ(room->counter, 80);
}

// The same without a lock: the room sees what goes wrong.
TEST(SharedMutexControl, WithoutALockReadersMeetWriters) {
  struct NoLock {
    void lock() {}
    void unlock() {}
    void lock_shared() {}
    void unlock_shared() {}
  };
  Room room;
  std::atomic<std::uint64_t> tokens = 0;
  int expected = 0;
  const auto goes_wrong = [&] {  // soon, unless the threads happen to run one after another
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        NoLock mutex;
        mix(room, mutex, number, [&] { return ++tokens; });
      });
    }
    threads.clear();
    expected += 80;
    return room.both && room.counter < expected;
  };
  EXPECT_TRUE(eventually(goes_wrong));
}

}  // namespace
}  // namespace holdfast::conformance
