// A value with a version.

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::errc_of;

// RG1
TEST_P(RegisterConformance, EverybodyReadsWhatWasWritten) {
  Client client = open();
  Client other = open();
  Register mine(client, "stock");
  Register theirs(other, "stock");
  EXPECT_EQ(mine.get().version, 0u);
  EXPECT_EQ(mine.get().value, "");
  for (int round = 0; round < 20; ++round) {
    Register& writer = round % 2 == 0 ? mine : theirs;
    const std::uint64_t version = writer.set(std::to_string(round));
    for (Register* reader : {&mine, &theirs}) {
      EXPECT_EQ(reader->get().value, std::to_string(round));
      EXPECT_EQ(reader->get().version, version);
    }
  }
  EXPECT_EQ(mine.name(), LockName("stock"));
}

// RG3
TEST_P(RegisterConformance, ExactlyOneOfManyCreatesIt) {
  Client clients[] = {open(), open()};
  Register(clients[0], "other").get();
  for (int round = 0; round < 20; ++round) {
    const std::string name = "created/" + std::to_string(round);
    test::Recorder<int> created;
    {
      std::vector<std::jthread> threads;
      for (int number = 0; number < 8; ++number) {
        threads.emplace_back([&, number] {
          Register mine(clients[number % 2], name);
          if (mine.compare_and_set(0, std::to_string(number))) created.add(number);
        });
      }
    }
    ASSERT_EQ(created.size(), 1u);
    EXPECT_EQ(Register(clients[0], name).get().value, std::to_string(created.all()[0]));
  }
}

// RG4
TEST_P(RegisterConformance, AConditionalWriteThatFailsSaysWhatIsThere) {
  Client client = open();
  Register mine(client, "stock");
  const Written absent = mine.compare_and_set(17, "never");
  EXPECT_FALSE(absent);
  EXPECT_EQ(absent.now.version, 0u);
  const std::uint64_t first = mine.set("one");
  const Written late = mine.compare_and_set(0, "never");
  EXPECT_FALSE(late);
  EXPECT_EQ(late.now.value, "one");
  EXPECT_EQ(late.now.version, first);
  const Written right = mine.compare_and_set(first, "two");
  EXPECT_TRUE(right);
  EXPECT_EQ(right.now.value, "two");
  EXPECT_GT(right.now.version, first);
  EXPECT_EQ(mine.get().value, "two");
  EXPECT_EQ(mine.get().version, right.now.version);
}

// RG5
TEST_P(RegisterConformance, AVersionThatNeverWasIsNotTheOneThatIsThere) {
  Client client = open();
  Register mine(client, "stock");
  const std::uint64_t version = mine.set("one");
  for (const std::uint64_t never : {std::uint64_t{1} << 32U, std::uint64_t{1} << 52U, std::uint64_t{1} << 63U,
                                    std::numeric_limits<std::uint64_t>::max()}) {
    const Written written = mine.compare_and_set(never, "two");
    EXPECT_FALSE(written.written) << never;
    EXPECT_EQ(written.now.version, version) << never;
    EXPECT_EQ(written.now.value, "one") << never;
  }
}

TEST_P(RegisterConformance, AValueThatWasChangedBackIsNotTheOldOne) {
  Client client = open();
  Register mine(client, "stock");
  const std::uint64_t seen = mine.set("a");
  std::uint64_t last = seen;
  for (const char* value : {"b", "a", "a", "a"}) {
    const std::uint64_t version = mine.set(value);
    EXPECT_GT(version, last) << "each write makes it larger, even of the same value";
    last = version;
  }
  EXPECT_FALSE(mine.compare_and_set(seen, "c"));
  EXPECT_EQ(mine.get().value, "a");
  EXPECT_TRUE(mine.compare_and_set(last, "c"));
}

TEST_P(RegisterConformance, AddsToANumber) {
  Client client = open();
  Register mine(client, "stock");
  EXPECT_EQ(mine.add(0), 0);
  EXPECT_EQ(mine.add(5), 5);
  EXPECT_EQ(mine.add(-12), -7);
  EXPECT_EQ(mine.get().value, "-7");
  const std::uint64_t version = mine.get().version;
  mine.add(1);
  EXPECT_GT(mine.get().version, version);
  mine.set("41");
  EXPECT_EQ(mine.add(1), 42);
}

TEST_P(RegisterConformance, WhatIsNoNumberCannotBeAddedTo) {
  Client client = open();
  Register mine(client, "stock");
  for (const std::string text : {"seven", "7 ", "7.5", "", "0x7", "99999999999999999999"}) {
    const std::uint64_t version = mine.set(text);
    EXPECT_EQ(errc_of([&] { mine.add(1); }), Errc::invalid_argument) << text;
    EXPECT_EQ(mine.get().value, text);
    EXPECT_EQ(mine.get().version, version);
  }
}

TEST_P(RegisterConformance, ASumThatDoesNotFitIsRefused) {
  using Limits = std::numeric_limits<std::int64_t>;
  Client client = open();
  Register mine(client, "stock");
  EXPECT_EQ(mine.add(Limits::max()), Limits::max());
  EXPECT_EQ(errc_of([&] { mine.add(1); }), Errc::invalid_argument);
  EXPECT_EQ(mine.get().value, std::to_string(Limits::max()));
  EXPECT_EQ(mine.add(Limits::min()), -1);
  EXPECT_EQ(mine.add(Limits::min() + 1), Limits::min());
  EXPECT_EQ(errc_of([&] { mine.add(-1); }), Errc::invalid_argument);
  EXPECT_EQ(mine.get().value, std::to_string(Limits::min()));
}

TEST_P(RegisterConformance, AChangeThatThrowsChangesNothing) {
  Client client = open();
  Register mine(client, "stock");
  const std::uint64_t version = mine.set("17");
  EXPECT_THROW(mine.update([](const std::string&) -> std::string { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(mine.get().value, "17");
  EXPECT_EQ(mine.get().version, version);
  const Versioned written = mine.update([](const std::string& value) { return value + "!"; });
  EXPECT_EQ(written.value, "17!");
  EXPECT_EQ(written.version, mine.get().version);
}

TEST_P(RegisterConformance, AnUpdateBeginsAgainWhenSomebodyElseHasWritten) {
  Client client = open();
  Client other = open();
  Register mine(client, "stock");
  Register theirs(other, "stock");
  mine.set("1");
  int runs = 0;
  const Versioned written = mine.update([&](const std::string& value) {
    if (++runs <= 3) theirs.set(value + "1");
    return value + "2";
  });
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(written.value, "11112");
  EXPECT_EQ(theirs.get().value, "11112");
}

TEST_P(RegisterConformance, AStopEndsAnUpdate) {
  Client client = open();
  Register mine(client, "stock");
  std::stop_source stop;
  int runs = 0;
  const auto outcome = errc_of([&] {
    mine.update(
        [&](const std::string&) {
          if (++runs == 3) stop.request_stop();
          mine.set("in between");
          return std::string("mine");
        },
        stop.get_token());
  });
  EXPECT_EQ(outcome, Errc::cancelled);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(mine.get().value, "in between");
}

// RG7
TEST_P(RegisterConformance, KeepsEveryByte) {
  Client client = open();
  Client other = open();
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (const std::string& value : {std::string(), std::string(1, '\0'), std::string("a\0b", 3), all, all + all}) {
    const std::uint64_t version = Register(client, "bytes").set(value);
    const Versioned read = Register(other, "bytes").get();
    EXPECT_EQ(read.value, value);
    EXPECT_EQ(read.version, version);
  }
  EXPECT_GT(Register(client, "bytes").set(""), 0u);
  EXPECT_GT(Register(client, "bytes").get().version, 0u) << "empty is not the same as never written";
}

// RG7
TEST_P(RegisterConformance, TheLargestValueIsTheOneTheTraitsSay) {
  Client client = open();
  Register mine(client, "large");
  const std::size_t limit = client.traits().max_value_bytes;
  ASSERT_GT(limit, 0u);
  const std::string largest(limit, 'x');
  const std::uint64_t version = mine.set(largest);
  EXPECT_EQ(mine.get().value, largest);
  const std::string too_large(limit + 1, 'y');
  EXPECT_EQ(errc_of([&] { mine.set(too_large); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { mine.compare_and_set(version, too_large); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Register(client, "other").compare_and_set(0, too_large); }), Errc::invalid_argument);
  EXPECT_EQ(mine.get().version, version);
  EXPECT_EQ(Register(client, "other").get().version, 0u);
}

TEST_P(SemaphoreConformance, IsAnotherThingThanARegisterOfItsName) {
  Client client = open();
  const Hold permit = Semaphore(client, "same", 1).acquire();
  Register(client, "same").set("free");
  EXPECT_EQ(client.list().size(), 1u) << "a register is not listed";
  EXPECT_TRUE(permit.valid());
}

TEST_P(RegisterConformance, IsAnotherThingThanALockOfItsName) {
  Client client = open();
  Client other = open();
  const Hold lock = Mutex(client, "same").acquire();
  Latch(client, "same", 3).count_down();
  Register(other, "same").set("free");
  EXPECT_EQ(Register(other, "same").get().value, "free");
  EXPECT_EQ(Latch(other, "same", 3).missing(), 2u);
  EXPECT_TRUE(lock.valid());
}

// RG9
TEST_P(RegisterConformance, AFencedRegisterRefusesSmallerTokens) {
  Client client = open();
  Client other = open();
  FencedRegister mine(client, "position");
  EXPECT_EQ(mine.get().version, 0u);
  const Token old = Mutex(client, "import").acquire().token();
  const Token newer = Mutex(other, "import").acquire().token();
  EXPECT_TRUE(mine.set("1", old));
  EXPECT_TRUE(mine.set("2", old)) << "equal tokens are admitted";
  EXPECT_TRUE(FencedRegister(other, "position").set("3", newer));
  EXPECT_FALSE(mine.set("4", old));
  EXPECT_EQ(mine.get().value, "3");
  EXPECT_EQ(mine.get().token, newer);
  Register(client, "broken").set("no token in here");
  EXPECT_EQ(errc_of([&] { static_cast<void>(FencedRegister(client, "broken").get()); }), Errc::store_failed);
}

// RG9: of all who write at once, whatever the order, the largest token is the last.
TEST_P(RegisterConformance, TheLargestTokenIsTheLastToWrite) {
  Client clients[] = {open(), open()};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t number = 1; number <= 8; ++number) {
      threads.emplace_back([&, number] {
        FencedRegister mine(clients[number % 2], "position");
        for (std::uint64_t round = 0; round < 5; ++round) {
          const std::uint64_t token = round * 8 + number;
          static_cast<void>(mine.set(std::to_string(token), Token(token)));
        }
      });
    }
  }
  EXPECT_EQ(FencedRegister(clients[0], "position").get().token, Token(40));
  EXPECT_EQ(FencedRegister(clients[0], "position").get().value, "40");
}

TEST_P(RegisterConformance, AfterClosingEveryCallSaysSo) {
  Client client = open();
  Client other = open();
  Register mine(client, "stock");
  mine.set("1");
  Background waiter([&](std::stop_token stop) { return mine.wait_for_change(mine.get().version, stop); });
  EXPECT_FALSE(waiter.finishes(100ms));
  client.close();
  EXPECT_EQ(waiter.error(), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.get(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.set("2"); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.compare_and_set(0, "2"); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.add(1); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.update([](const std::string& value) { return value; }); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.wait_for_change(0); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { mine.wait_for_change_for(0, 1s); }), Errc::closed);
  EXPECT_EQ(Register(other, "stock").get().value, "1");
}

TEST_P(NoRegisterConformance, IsRefusedWithTheReason) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { Register(client, "name").get(); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Register(client, "name").set("value"); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Register(client, "name").add(1); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Election(client, "name").campaign("value"); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { static_cast<void>(Once(client, "name", 1h).try_begin()); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Latch(client, "name", 3).count_down(); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Barrier(client, "name", 2).arrive_and_wait_for(1s); }), Errc::unsupported);
}

}  // namespace
}  // namespace holdfast::conformance
