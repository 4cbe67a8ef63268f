// Readers that wait, and stop waiting.

#include <gtest/gtest.h>

#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using std::chrono::steady_clock;
using test::Background;
using test::Recorder;

TEST_P(SharedMutexConformance, ATimedReaderGivesUpWhenItsTimeHasCome) {
  Client client = open();
  Client other = open();
  const Hold writer = SharedMutex(client, "list").acquire();
  SharedMutex mutex(other, "list");
  const auto waits = [&](auto call) {
    const auto begin = steady_clock::now();
    EXPECT_TRUE(test::is_not_granted(call));
    EXPECT_GE(steady_clock::now() - begin, 195ms);
  };
  waits([&] { return mutex.try_lock_shared_for(200ms); });
  waits([&] { return mutex.try_lock_shared_until(steady_clock::now() + 200ms); });
  waits([&] { return mutex.try_acquire_shared_for(200ms).has_value(); });
  waits([&] { return mutex.try_acquire_shared_until(steady_clock::now() + 200ms).has_value(); });
  EXPECT_TRUE(line_becomes(client, "list", 0));
  EXPECT_TRUE(writer.valid());
}

TEST_P(SharedMutexConformance, ATimedReaderGetsInWhenTheWriterLeavesInTime) {
  Client client = open();
  Client other = open();
  Hold writer = SharedMutex(client, "list").acquire();
  Background reader([&](std::stop_token stop) {
    return SharedMutex(other, "list").try_acquire_shared_for(test::patience, stop).value();
  });
  ASSERT_TRUE(line_becomes(client, "list", 1));
  writer.release();
  EXPECT_EQ(reader.take().mode(), ClaimMode::shared);
}

TEST_P(SharedMutexConformance, AnAsynchronousReaderIsCalledBackWithItsHold) {
  Client client = open();
  Client other = open();
  SharedMutex mutex(client, "list");
  Recorder<ClaimMode> modes;
  Hold writer = SharedMutex(other, "list").acquire();
  for (int number = 0; number < 3; ++number) {
    mutex.async_acquire_shared([&](std::error_code code, Hold hold) {
      if (!code && hold.valid()) modes.add(hold.mode());
    });
  }
  ASSERT_TRUE(line_becomes(other, "list", 1));
  EXPECT_EQ(modes.size(), 0u);
  writer.release();
  ASSERT_TRUE(modes.reaches(3));
  EXPECT_EQ(modes.all(), std::vector(3, ClaimMode::shared));
  EXPECT_TRUE(becomes_free(other, "list"));
  client.close();
}

TEST_P(SharedMutexConformance, AStopEndsAnAsynchronousReader) {
  Client client = open();
  Client other = open();
  SharedMutex mutex(client, "list");
  Recorder<std::error_code> codes;
  const Hold writer = SharedMutex(other, "list").acquire();
  std::stop_source stop;
  mutex.async_acquire_shared([&](std::error_code code, const Hold&) { codes.add(code); }, stop.get_token());
  ASSERT_TRUE(line_becomes(other, "list", 1));
  stop.request_stop();
  ASSERT_TRUE(codes.reaches(1));
  EXPECT_TRUE(line_becomes(other, "list", 0));
  client.close();
  EXPECT_EQ(codes.all(), std::vector{make_error_code(Errc::cancelled)});
}

TEST_P(SharedMutexConformance, AStopEndsEveryWaitOfAReader) {
  Client client = open();
  Client other = open();
  SharedMutex mutex(client, "list");
  const Hold writer = SharedMutex(other, "list").acquire();
  const auto cancelled = [&](auto call) {
    Background waiter(call);
    ASSERT_TRUE(line_becomes(other, "list", 1));
    waiter.cancel();
    EXPECT_EQ(waiter.error(), Errc::cancelled);
    EXPECT_TRUE(line_becomes(other, "list", 0));
  };
  cancelled([&](std::stop_token stop) { mutex.lock_shared(stop); });
  cancelled([&](std::stop_token stop) { mutex.try_lock_shared_for(1h, stop); });
  cancelled([&](std::stop_token stop) { mutex.try_lock_shared_until(steady_clock::now() + 1h, stop); });
  cancelled([&](std::stop_token stop) { static_cast<void>(mutex.acquire_shared(stop)); });
  cancelled([&](std::stop_token stop) { static_cast<void>(mutex.try_acquire_shared_for(1h, stop)); });
  cancelled(
      [&](std::stop_token stop) { static_cast<void>(mutex.try_acquire_shared_until(steady_clock::now() + 1h, stop)); });
  EXPECT_TRUE(writer.valid());
}

}  // namespace
}  // namespace holdfast::conformance
