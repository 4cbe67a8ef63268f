// The results that are not holds, through Asio: values, numbers, and none at all.
#include <gtest/gtest.h>

#include "asio/coroutine.hpp"
#include "asio/net.hpp"
#include "holdfast/asio.hpp"
#include "holdfast/barrier.hpp"
#include "holdfast/client.hpp"
#include "holdfast/election.hpp"
#include "holdfast/latch.hpp"
#include "holdfast/multi_lock.hpp"
#include "holdfast/once.hpp"
#include "holdfast/register.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"
#include "support/errors.hpp"

namespace holdfast::test {
namespace {

TEST(AsioRegister, ACoroutineReadsAndWrites) {
  Client client("memory:");
  Register counter(client, "counter");
  run([&]() -> net::awaitable<void> {
    EXPECT_EQ((co_await counter.async_get(net::use_awaitable)).version, 0u);
    EXPECT_EQ(co_await counter.async_add(41, net::use_awaitable), 41);
    EXPECT_EQ(co_await counter.async_add(1, net::use_awaitable), 42);
    const Versioned now = co_await counter.async_get(net::use_awaitable);
    EXPECT_EQ(now.value, "42");

    const Written refused = co_await counter.async_compare_and_set(now.version + 1, "0", net::use_awaitable);
    EXPECT_FALSE(refused);
    const Written written = co_await counter.async_compare_and_set(now.version, "many", net::use_awaitable);
    EXPECT_TRUE(written);
    EXPECT_EQ(co_await code_of(counter.async_add(1, net::use_awaitable)), Errc::invalid_argument);
    EXPECT_GT(co_await counter.async_set("7", net::use_awaitable), written.now.version);
  });
  EXPECT_EQ(counter.async_add(1, net::use_future).get(), 8);
}

TEST(AsioRegister, ACoroutineWaitsForAChange) {
  Client client("memory:");
  Register value(client, "value");
  run([&]() -> net::awaitable<void> {
    net::post(co_await net::this_coro::executor, [&] { value.set("new"); });
    const Versioned changed = co_await value.async_wait_for_change(0, net::use_awaitable);
    EXPECT_EQ(changed.value, "new");
  });
}

TEST(AsioLatch, ACoroutineWaitsUntilItOpens) {
  Client client("memory:");
  Latch latch(client, "ready", 1);
  bool opened = false;
  run([&]() -> net::awaitable<void> {
    net::post(co_await net::this_coro::executor, [&] { latch.count_down(); });
    co_await latch.async_wait(net::use_awaitable);
    opened = true;
  });
  EXPECT_TRUE(opened);
}

TEST(AsioLatch, ACoroutineCountsDown) {
  Client client("memory:");
  Latch latch(client, "ready", 3);
  run([&]() -> net::awaitable<void> {
    EXPECT_EQ(co_await latch.async_count_down(2, net::use_awaitable), 1u);
    EXPECT_EQ(co_await code_of(latch.async_count_down(2, net::use_awaitable)), Errc::invalid_argument);
  });
}

TEST(AsioHold, ACoroutineExtendsDowngradesAndReleases) {
  Client client("memory:");
  SharedMutex mutex(client, "prices");
  run([&]() -> net::awaitable<void> {
    Hold writer = co_await mutex.async_acquire(net::use_awaitable);
    co_await writer.async_extend(std::chrono::minutes(1), net::use_awaitable);
    EXPECT_GT(writer.remaining(), std::chrono::seconds(50));
    co_await writer.async_downgrade(net::use_awaitable);
    EXPECT_EQ(writer.mode(), ClaimMode::shared);
    const Hold reader = co_await mutex.async_acquire_shared(net::use_awaitable);
    EXPECT_EQ(co_await writer.async_release(net::use_awaitable), Released::released);
    EXPECT_EQ(co_await writer.async_release(net::use_awaitable), Released::not_held);
    EXPECT_EQ(co_await code_of(writer.async_extend(std::chrono::minutes(1), net::use_awaitable)), Errc::not_held);
  });
}

TEST(AsioSemaphore, ACoroutineTakesPermits) {
  Client client("memory:");
  Semaphore pool(client, "pool", 3);
  run([&]() -> net::awaitable<void> {
    const Hold two = co_await pool.async_acquire(2, net::use_awaitable);
    EXPECT_EQ(two.permits(), 2u);
    EXPECT_FALSE(pool.try_acquire(2));
  });
}

TEST(AsioMultiLock, ACoroutineTakesAll) {
  Client client("memory:");
  MultiLock both(client, {"a", "b"});
  run([&]() -> net::awaitable<void> {
    const MultiHold hold = co_await both.async_acquire(net::use_awaitable);
    EXPECT_EQ(hold.tokens().size(), 2u);
    EXPECT_FALSE(both.try_acquire());
  });
}

TEST(AsioElection, ACoroutineLeads) {
  Client client("memory:");
  Election election(client, "scheduler");
  run([&]() -> net::awaitable<void> {
    EXPECT_FALSE(co_await election.async_leader(net::use_awaitable));
    const Token term = co_await election.async_campaign("one", net::use_awaitable);
    co_await election.async_proclaim("two", net::use_awaitable);
    const std::optional<Leader> leader = co_await election.async_leader(net::use_awaitable);
    EXPECT_EQ(leader, (Leader{"two", term}));
    EXPECT_EQ(co_await election.async_resign(net::use_awaitable), Released::released);
    EXPECT_EQ(co_await election.async_resign(net::use_awaitable), Released::not_held);
    EXPECT_EQ(co_await code_of(election.async_proclaim("three", net::use_awaitable)), Errc::not_held);
  });
}

TEST(AsioOnce, ACoroutineDoesTheJobOnce) {
  Client client("memory:");
  Once hourly(client, "hourly", std::chrono::hours(1));
  run([&]() -> net::awaitable<void> {
    auto begun = co_await hourly.async_begin(net::use_awaitable);
    if (!begun) throw std::runtime_error("nothing to do");
    co_await begun->async_succeed(7, net::use_awaitable);
    EXPECT_FALSE(*begun) << "it has ended";
    EXPECT_FALSE(co_await hourly.async_begin(net::use_awaitable));
  });
  const std::optional<LastRun> last = hourly.last_run();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->result, 7);
}

TEST(AsioBarrier, TwoCoroutinesGoOnTogether) {
  Client client("memory:");
  Barrier barrier(client, "step", 2);
  run([&]() -> net::awaitable<void> {
    auto other = barrier.async_arrive_and_wait(net::use_future);
    EXPECT_EQ(co_await barrier.async_arrive_and_wait(net::use_awaitable), 1u);
    EXPECT_EQ(other.get(), 1u);
  });
}

}  // namespace
}  // namespace holdfast::test
