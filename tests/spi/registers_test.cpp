// Named values with versions.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "kit/register_watches.hpp"
#include "spi/stores.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"

namespace holdfast::spi_suite {
namespace {

TEST_P(RegistersOf, AreEmptyUntilTheyAreWritten) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.read("r").version, 0U);
  EXPECT_EQ(client.read("r").value, "");
  const auto refused = client.write_if("r", 1, "x");
  EXPECT_FALSE(refused.written) << "it was never written";
  EXPECT_EQ(refused.now.version, 0U);
  EXPECT_EQ(client.read("r").version, 0U);
}

TEST_P(RegistersOf, AreWrittenOnlyByWhoSawTheLastValue) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  const auto one = first.write_if("r", 0, "one");
  EXPECT_TRUE(one.written);
  EXPECT_EQ(one.now.value, "one");
  EXPECT_GT(one.now.version, 0U);
  const auto late = second.write_if("r", 0, "two");
  EXPECT_FALSE(late.written);
  EXPECT_EQ(late.now.value, "one") << "what was in the way";
  EXPECT_EQ(late.now.version, one.now.version);
  const auto two = second.write_if("r", late.now.version, "two");
  EXPECT_TRUE(two.written);
  EXPECT_GT(two.now.version, one.now.version);
  EXPECT_FALSE(first.write_if("r", one.now.version, "three").written);
  EXPECT_EQ(first.read("r").value, "two");
  EXPECT_EQ(first.read("r").version, two.now.version);
}

TEST_P(RegistersOf, KeepAnyBytes) {
  BackendUnderTest client(url());
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  int number = 0;
  for (const std::string& value :
       {std::string(), bytes, std::string(3, '\0'), std::string("\xff\xfe"), std::string("1e5")}) {
    const LockName name = "bytes " + std::to_string(++number);
    EXPECT_TRUE(client.write_if(name, 0, value).written);
    EXPECT_EQ(client.read(name).value, value) << number;
    EXPECT_NE(client.read(name).version, 0U) << "also an empty value is one";
  }
}

TEST_P(RegistersOf, HoldAsMuchAsTheTraitsSay) {
  BackendUnderTest client(url());
  const std::size_t most = client.traits().max_value_bytes;
  EXPECT_EQ(errc_of(client.try_write_if("r", 0, std::string(most + 1, 'x'))), Errc::invalid_argument);
  EXPECT_EQ(client.read("r").version, 0U);
  const auto written = client.write_if("r", 0, std::string(most, 'x'));
  EXPECT_TRUE(written.written);
  EXPECT_EQ(client.read("r").value.size(), most);
  EXPECT_EQ(errc_of(client.try_write_if("r", written.now.version, std::string(most + 1, 'y'))), Errc::invalid_argument);
  EXPECT_EQ(client.read("r").value, std::string(most, 'x'));
}

TEST_P(RegistersOf, AreApartFromLocksOfTheSameName) {
  BackendUnderTest client(url());
  client.acquire(1, {.name = "both"});
  EXPECT_EQ(client.read("both").version, 0U);
  client.add("both", 5);
  client.add("only a register", 1);
  EXPECT_TRUE(client.show("both"));
  EXPECT_FALSE(client.show("only a register"));
  EXPECT_TRUE(client.release(1, "both"));
  EXPECT_EQ(client.evict("both"), 0U);
  EXPECT_EQ(client.read("both").value, "5");
}

TEST_P(RegistersOf, AddUp) {
  BackendUnderTest first(url());
  BackendUnderTest second(url());
  EXPECT_EQ(first.add("n", 5), 5);
  EXPECT_EQ(second.add("n", -7), -2);
  const auto now = first.read("n");
  EXPECT_EQ(now.value, "-2");
  EXPECT_EQ(first.add("n", 0), -2);
  EXPECT_GT(first.read("n").version, now.version) << "adding nothing is a change, too";
  const auto written = first.write_if("n", first.read("n").version, "40");
  EXPECT_TRUE(written.written);
  EXPECT_EQ(second.add("n", 2), 42);
}

TEST_P(RegistersOf, AddOnlyWhatFits) {
  BackendUnderTest client(url());
  EXPECT_EQ(client.add("most", INT64_MAX), INT64_MAX);
  EXPECT_EQ(errc_of(client.try_add("most", 1)), Errc::invalid_argument);
  EXPECT_EQ(client.read("most").value, std::to_string(INT64_MAX));
  EXPECT_EQ(client.add("most", -1), INT64_MAX - 1);
  EXPECT_EQ(client.add("least", INT64_MIN), INT64_MIN);
  const auto before = client.read("least");
  EXPECT_EQ(errc_of(client.try_add("least", -1)), Errc::invalid_argument);
  EXPECT_EQ(client.read("least").version, before.version);
}

TEST_P(RegistersOf, AddOnlyToNumbers) {
  BackendUnderTest client(url());
  for (const std::string text : {"", "x", "1x", " 1", "1 ", "0x1", "1.0", "--1", "9223372036854775808"}) {
    const LockName name = "text " + text;
    EXPECT_TRUE(client.write_if(name, 0, text).written);
    EXPECT_EQ(errc_of(client.try_add(name, 1)), Errc::invalid_argument) << text;
    EXPECT_EQ(client.read(name).value, text);
  }
}

TEST_P(RegistersOf, LoseNothingBetweenClients) {
  BackendUnderTest reader(url());  // a store may live only as long as somebody uses it
  constexpr int clients = 3;
  constexpr int rounds = 20;
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back([this] {
      BackendUnderTest client(url());
      for (int round = 0; round < rounds; ++round) {
        client.add("sum", 1);
        for (auto now = client.read("text");;) {
          const auto answer = client.write_if("text", now.version, now.value + "x");
          if (answer.written) break;
          now = answer.now;
          if (testing::Test::HasFailure()) return;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(reader.read("sum").value, std::to_string(clients * rounds));
  EXPECT_EQ(reader.read("text").value, std::string(std::size_t{clients} * rounds, 'x'));
}

// --- watching -------------------------------------------------------------------------------------------------------

TEST_P(RegistersOf, AnswerAWatchAtOnceIfTheyHaveChanged) {
  BackendUnderTest client(url());
  client.add("r", 1);
  EXPECT_TRUE(client.start_watch("r", 0)->result().ok());
  EXPECT_TRUE(client.start_watch("never written", 7)->result().ok());
}

TEST_P(RegistersOf, AnswerAWatchWhenAnotherClientWrites) {
  BackendUnderTest reader(url());
  BackendUnderTest writer(url());
  writer.read("r");  // it is open now: the write will be quick
  // A watch that was answered because its patience ended says nothing; so until one is quicker than that.
  EXPECT_TRUE(test::eventually([&] {
    const std::uint64_t seen = reader.read("r").version;
    const auto begin = base::BootClock::now();
    const auto first = reader.start_watch("r", seen);
    const auto second = reader.start_watch("r", seen);
    reader.read("r");  // both are watching
    if (first->answered() || second->answered()) return false;
    writer.add("r", 1);
    EXPECT_TRUE(first->result().ok() && second->result().ok());
    return base::BootClock::now() - begin < kit::RegisterWatches::patience / 2;
  }));
}

TEST_P(RegistersOf, AnswerAWatchWhenItsOwnClientWrites) {
  BackendUnderTest client(url());
  EXPECT_TRUE(test::eventually([&] {
    const std::uint64_t seen = client.read("r").version;
    const auto begin = base::BootClock::now();
    const auto watch = client.start_watch("r", seen);
    EXPECT_TRUE(client.write_if("r", seen, "new").written);
    EXPECT_TRUE(watch->result().ok());
    return base::BootClock::now() - begin < kit::RegisterWatches::patience / 2;
  }));
}

TEST_P(RegistersOf, AnswerAWatchAfterAWhileInAnyCase) {
  BackendUnderTest client(url());
  client.add("r", 1);
  const std::uint64_t seen = client.read("r").version;
  const auto begin = base::BootClock::now();
  const auto watch = client.start_watch("r", seen);
  client.add("another", 1);
  EXPECT_EQ(errc_of(client.try_add("r", INT64_MAX)), Errc::invalid_argument) << "changes nothing";
  EXPECT_FALSE(client.write_if("r", seen + 1, "x").written);
  EXPECT_TRUE(watch->result().ok());
  EXPECT_GE(base::BootClock::now() - begin, kit::RegisterWatches::patience * 9 / 10) << "not by what did not change it";
  EXPECT_EQ(client.read("r").version, seen);
}

}  // namespace
}  // namespace holdfast::spi_suite
