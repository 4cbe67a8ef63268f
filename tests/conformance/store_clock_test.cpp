// What time a store says it is.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

#include "conformance/answers.hpp"
#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::system_clock;
using test::errc_of;

TEST_P(ClientConformance, AStoreWithAClockTellsTheTime) {
  Client client = open();
  StoreClock clock(client);
  const auto before = system_clock::now();
  const std::optional<StoreTime> now = clock.now();
  const auto after = system_clock::now();
  ASSERT_EQ(now.has_value(), client.traits().has_clock);
  if (!now) return;
  // The servers of the tests run on this host; the slack is for stores that count in milliseconds.
  EXPECT_GE(now->time + now->uncertainty, before - 5ms);
  EXPECT_LE(now->time - now->uncertainty, after + 5ms);
  EXPECT_GE(now->uncertainty, 0ns);
  EXPECT_LE(now->uncertainty, (after - before) / 2 + 5ms);
}

TEST_P(ClientConformance, AStoresTimeCanBeAwaited) {
  Client client = open();
  StoreClock clock(client);
  Answers<std::optional<StoreTime>> answers;
  clock.async_now(into(answers));
  const auto answer = first(answers);
  EXPECT_FALSE(answer.code) << answer.code.message();
  EXPECT_EQ(answer.value.has_value(), client.traits().has_clock);
}

TEST_P(ClientConformance, AStoreClockMayOutliveItsClient) {
  auto client = std::make_unique<Client>(open());
  StoreClock clock(*client);
  client.reset();
  EXPECT_EQ(errc_of([&] { clock.now(); }), Errc::closed);
}

}  // namespace
}  // namespace holdfast::conformance
