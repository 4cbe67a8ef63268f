// The results that are not holds, through Asio: values, numbers, and none at all.
#include <gtest/gtest.h>

#include "asio/coroutine.hpp"
#include "asio/net.hpp"
#include "holdfast/asio.hpp"
#include "holdfast/client.hpp"
#include "holdfast/latch.hpp"
#include "holdfast/register.hpp"
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

}  // namespace
}  // namespace holdfast::test
