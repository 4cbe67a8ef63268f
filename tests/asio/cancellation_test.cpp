// Calls that are called off one by one, through Asio's cancellation slots. Boost 1.74 has none.
#include <gtest/gtest.h>

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <chrono>
#include <cstdio>
#include <future>
#include <optional>
#include <thread>
#include <variant>

#include "asio/coroutine.hpp"
#include "asio/net.hpp"
#include "holdfast/asio.hpp"
#include "holdfast/holdfast.hpp"
#include "support/errors.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

class AsioCancellation : public testing::Test {
 protected:
  net::awaitable<void> after(std::chrono::milliseconds time) {
    net::steady_timer timer(co_await net::this_coro::executor, time);
    co_await timer.async_wait(net::use_awaitable);
  }

  Client client{"memory:"};
  Mutex mutex{client, "mine"};
};

TEST_F(AsioCancellation, ASignalEndsAWait) {
  for (const auto type :
       {net::cancellation_type::terminal, net::cancellation_type::partial, net::cancellation_type::total}) {
    Hold ours = mutex.acquire();
    net::io_context context;
    net::cancellation_signal signal;
    std::optional<NetError> told;
    mutex.async_acquire(
        net::bind_cancellation_slot(signal.slot(), net::bind_executor(context, [&](NetError error, Hold hold) {
                                      told = error;
                                      EXPECT_FALSE(hold);
                                    })));
    ASSERT_TRUE(waiting_becomes(client, 1));
    signal.emit(type);
    EXPECT_FALSE(told);
    context.run();
    ASSERT_TRUE(told);
    EXPECT_EQ(*told, Errc::cancelled);
    EXPECT_EQ(client.health().waiting, 0u);
    ours.release();
    EXPECT_TRUE(becomes_free(mutex));
  }
}

TEST_F(AsioCancellation, ASlotAloneMakesAHandlerOfACallback) {
  const Hold ours = mutex.acquire();
  net::cancellation_signal signal;
  std::promise<NetError> told;
  mutex.async_acquire(net::bind_cancellation_slot(signal.slot(), [&](NetError error, Hold) { told.set_value(error); }));
  signal.emit(net::cancellation_type::all);
  EXPECT_EQ(told.get_future().get(), Errc::cancelled);
}

TEST_F(AsioCancellation, ASignalThatComesLateDoesNothing) {
  net::io_context context;
  net::cancellation_signal signal;
  Hold kept;
  mutex.async_acquire(net::bind_cancellation_slot(
      signal.slot(), net::bind_executor(context, [&](NetError, Hold hold) { kept = std::move(hold); })));
  context.run();
  signal.emit(net::cancellation_type::all);
  EXPECT_TRUE(kept.valid());
}

TEST_F(AsioCancellation, ASignalMayGoBeforeTheWaitEnds) {
  Hold ours = mutex.acquire();
  net::io_context context;
  std::optional<net::cancellation_signal> signal(std::in_place);
  bool granted = false;
  mutex.async_acquire(net::bind_cancellation_slot(
      signal->slot(), net::bind_executor(context, [&](NetError error, Hold) { granted = !error; })));
  signal.reset();
  ours.release();
  context.run();
  EXPECT_TRUE(granted);
}

TEST_F(AsioCancellation, ATimerThatIsFasterEndsTheWait) {
  Hold ours = mutex.acquire();
  run([&]() -> net::awaitable<void> {
    const auto first = co_await (mutex.async_acquire(net::use_awaitable) || after(10ms));
    EXPECT_EQ(first.index(), 1u);
    EXPECT_EQ(client.health().waiting, 0u) << "the wait has ended when the answer is there";
  });
  ours.release();
  EXPECT_TRUE(becomes_free(mutex));
}

TEST_F(AsioCancellation, ALockThatIsFasterEndsTheTimer) {
  const auto began = std::chrono::steady_clock::now();
  run([&]() -> net::awaitable<void> {
    const auto first = co_await (mutex.async_acquire(net::use_awaitable) || after(patience));
    EXPECT_TRUE(first.index() == 0 && std::get<0>(first).valid());
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, patience);
  EXPECT_TRUE(becomes_free(mutex));
}

TEST_F(AsioCancellation, TheFasterOfTwoLocksIsKept) {
  Mutex other(client, "other");
  Hold ours = mutex.acquire();
  run([&]() -> net::awaitable<void> {
    const auto first = co_await (mutex.async_acquire(net::use_awaitable) || other.async_acquire(net::use_awaitable));
    EXPECT_TRUE(first.index() == 1 && std::get<1>(first).valid());
    EXPECT_FALSE(other.try_acquire());
  });
  ours.release();
  EXPECT_TRUE(becomes_free(mutex));
  EXPECT_TRUE(becomes_free(other));
}

TEST_F(AsioCancellation, ACancelThatRacesWithTheGrantLeaksNothing) {
  constexpr int rounds = 1000;
  int granted = 0;
  for (int round = 0; round < rounds; ++round) {
    Hold ours = mutex.acquire();
    net::io_context context;
    net::cancellation_signal signal;
    int told = 0;
    mutex.async_acquire(
        net::bind_cancellation_slot(signal.slot(), net::bind_executor(context, [&](NetError error, Hold hold) {
                                      ++told;
                                      if (hold) ++granted;
                                      EXPECT_EQ(error, hold ? NetError() : make_error_code(Errc::cancelled));
                                    })));
    std::jthread releasing([hold = std::move(ours)]() mutable { hold = {}; });
    const auto moment = std::chrono::steady_clock::now() + std::chrono::microseconds(round % 100);
    while (std::chrono::steady_clock::now() < moment) continue;
    signal.emit(net::cancellation_type::terminal);
    context.run();
    ASSERT_EQ(told, 1) << "round " << round;
    ASSERT_TRUE(becomes_free(mutex)) << "round " << round;
  }
  RecordProperty("granted", granted);
  std::printf("%d granted, %d cancelled\n", granted, rounds - granted);
}

}  // namespace
}  // namespace holdfast::test
