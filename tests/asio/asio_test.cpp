// Holdfast's asynchronous calls with Asio's tokens. Built twice, for standalone Asio and for Boost.Asio.
#include "holdfast/asio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "asio/coroutine.hpp"
#include "asio/net.hpp"
#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/gate.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

class Asio : public testing::Test {
 protected:
  Client client{"memory:"};
  Mutex mutex{client, "mine"};
};

TEST_F(Asio, ACoroutineAwaitsALock) {
  bool done = false;
  run([&]() -> net::awaitable<void> {
    Hold hold = co_await mutex.async_acquire(net::use_awaitable);
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(mutex.try_acquire());
    EXPECT_EQ(hold.release(), Released::released);
    EXPECT_TRUE(mutex.try_acquire());
    done = true;
  });
  EXPECT_TRUE(done);
}

TEST_F(Asio, AHoldIsReleasedWhenItsCoroutineEnds) {
  run([&]() -> net::awaitable<void> { const Hold hold = co_await mutex.async_acquire(net::use_awaitable); });
  EXPECT_TRUE(becomes_free(mutex));
}

TEST_F(Asio, ACoroutineWaitsForAWhile) {
  Hold ours = mutex.acquire();
  run([&]() -> net::awaitable<void> {
    EXPECT_EQ(co_await code_of(mutex.async_try_acquire_for(10ms, net::use_awaitable)), Errc::timed_out);
    ours.release();
    const Hold hold = co_await mutex.async_try_acquire_for(patience, net::use_awaitable);
    EXPECT_TRUE(hold.valid());
  });
  EXPECT_TRUE(becomes_free(mutex));
}

TEST_F(Asio, TheHandlerRunsOnAThreadOfItsContext) {
  run([&, test = std::this_thread::get_id()]() -> net::awaitable<void> {
    for (int i = 0; i < 10; ++i) {
      const Hold hold = co_await mutex.async_acquire(net::use_awaitable);
      EXPECT_EQ(std::this_thread::get_id(), test);
    }
  });
}

TEST_F(Asio, TheHandlerRunsInItsStrand) {
  constexpr int calls = 200;
  net::thread_pool pool(3);
  auto strand = net::make_strand(pool);
  int in_strand = 0;  // guarded by the strand
  for (int i = 0; i < calls; ++i) {
    mutex.async_acquire(net::bind_executor(strand, [&, strand](NetError error, Hold hold) {
      if (!error && hold.valid() && strand.running_in_this_thread()) ++in_strand;
    }));
  }
  pool.join();
  EXPECT_EQ(in_strand, calls);
}

TEST_F(Asio, AContextRunsUntilTheLockIsThere) {
  Hold ours = mutex.acquire();
  net::io_context context;
  bool granted = false;
  mutex.async_acquire(net::bind_executor(context, [&](NetError error, Hold) { granted = !error; }));
  Background runner([&](std::stop_token) { context.run(); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  EXPECT_FALSE(runner.finishes(50ms)) << "there is work as long as the call waits";
  ours.release();
  EXPECT_TRUE(runner.finishes());
  EXPECT_TRUE(granted);
  if (!granted) context.stop();
}

TEST_F(Asio, AThousandCoroutinesOnOneThreadCountInOrder) {
  constexpr int coroutines = 1000;
  Hold ours = mutex.acquire();
  net::io_context context;
  int counted = 0;
  std::vector<int> order;
  for (int number = 0; number < coroutines; ++number) {
    spawn(context.get_executor(), [&, number]() -> net::awaitable<void> {
      const Hold hold = co_await mutex.async_acquire(net::use_awaitable);
      const int before = counted;
      co_await net::post(co_await net::this_coro::executor, net::use_awaitable);  // the others may run here
      counted = before + 1;
      order.push_back(number);
    });
  }
  net::post(context, [&] { ours.release(); });
  context.run();
  EXPECT_EQ(counted, coroutines);
  std::vector<int> expected(coroutines);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_F(Asio, AHandlerMayBeMoveOnly) {
  net::io_context context;
  int seen = 0;
  mutex.async_acquire(net::bind_executor(context, [&, number = std::make_unique<int>(7)](NetError error, Hold hold) {
    EXPECT_FALSE(error);
    EXPECT_TRUE(hold.valid());
    seen = *number;
  }));
  context.run();
  EXPECT_EQ(seen, 7);
}

TEST_F(Asio, AHandlerWithAnExecutorWaitsForItAndAMereCallbackDoesNot) {
  net::io_context context;
  std::atomic<bool> bound_called = false;
  Gate called;
  mutex.async_acquire(net::bind_executor(context, [&](NetError, Hold) { bound_called = true; }));
  ASSERT_TRUE(waiting_becomes(client, 0));
  Mutex(client, "other").async_acquire([&, test = std::this_thread::get_id()](std::error_code error, Hold hold) {
    EXPECT_FALSE(error);
    EXPECT_TRUE(hold.valid());
    EXPECT_NE(std::this_thread::get_id(), test);
    called.open();
  });
  EXPECT_TRUE(called.wait());
  EXPECT_FALSE(bound_called);
  context.run();
  EXPECT_TRUE(bound_called);
}

TEST_F(Asio, AFutureIsGivenTheHold) {
  std::future<Hold> future = mutex.async_acquire(net::use_future);
  ASSERT_EQ(future.wait_for(patience), std::future_status::ready);
  const Hold hold = future.get();
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(mutex.async_try_acquire_for(10ms, future_error()).get(), Errc::timed_out);
}

TEST_F(Asio, AClosedClientSaysSo) {
  Hold ours = mutex.acquire();
  run([&]() -> net::awaitable<void> {
    net::post(co_await net::this_coro::executor, [&] {
      EXPECT_TRUE(waiting_becomes(client, 1));
      client.close();
    });
    EXPECT_EQ(co_await code_of(mutex.async_acquire(net::use_awaitable)), Errc::closed) << "who waits";
    EXPECT_EQ(co_await code_of(mutex.async_acquire(net::use_awaitable)), Errc::closed) << "who comes";
    EXPECT_EQ(co_await code_of(mutex.async_try_acquire_for(1s, net::use_awaitable)), Errc::closed);
  });
  EXPECT_EQ(mutex.async_acquire(future_error()).get(), Errc::closed);
}

TEST_F(Asio, ACallThatIsRefusedAtOnceIsToldToTheHandlerOnly) {
  net::io_context context;
  std::optional<NetError> told;
  mutex.async_try_acquire_for(-1s, net::bind_executor(context, [&](NetError error, Hold hold) {
    told = error;
    EXPECT_FALSE(hold);
  }));
  EXPECT_FALSE(told) << "never inside the call that began it";
  context.run();
  ASSERT_TRUE(told);
  EXPECT_EQ(*told, Errc::invalid_argument);
}

TEST_F(Asio, ErrorsKeepTheirMeaning) {
  const Hold ours = mutex.acquire();
  const NetError error = mutex.async_try_acquire_for(1ms, future_error()).get();
  EXPECT_TRUE(error);
  EXPECT_TRUE(error == Errc::timed_out);
  EXPECT_TRUE(Errc::timed_out == error);
  EXPECT_TRUE(error != Errc::busy);
  EXPECT_TRUE(error == Condition::retry);
  EXPECT_TRUE(error != Condition::fix_call);
  EXPECT_EQ(error.value(), static_cast<int>(Errc::timed_out));
  EXPECT_EQ(std::string(error.category().name()), error_category().name());
  EXPECT_EQ(error.message(), make_error_code(Errc::timed_out).message());
  EXPECT_FALSE(NetError() == Errc::timed_out);
}

#ifdef HOLDFAST_USE_BOOST_ASIO
TEST(AsioErrors, GoFromOneLibraryToTheOtherAndBack) {
  using boost::system::generic_category;
  using boost::system::system_category;
  for (int value = static_cast<int>(Errc::busy); value <= static_cast<int>(Errc::store_failed); ++value) {
    const auto code = make_error_code(static_cast<Errc>(value));
    EXPECT_EQ(to_std(detail::to_asio(code)), code);
  }
  EXPECT_EQ(detail::to_asio({}), NetError());
  EXPECT_EQ(detail::to_asio(std::error_code(ENOENT, std::system_category())), NetError(ENOENT, system_category()));
  EXPECT_EQ(detail::to_asio(std::make_error_code(std::errc::io_error)), NetError(EIO, generic_category()));
  EXPECT_EQ(detail::to_asio(std::make_error_code(std::future_errc::no_state)), Errc::store_failed);
  EXPECT_EQ(to_std(NetError(EIO, generic_category())), std::errc::io_error);
  EXPECT_EQ(to_std(NetError(ENOENT, system_category())), std::error_code(ENOENT, std::system_category()));
  EXPECT_EQ(to_std(NetError()), std::error_code());
  EXPECT_FALSE(NetError(static_cast<int>(Errc::busy), system_category()) == Errc::busy);
}
#endif

/// Knows whether what it is a part of still exists.
class Witness {
 public:
  std::shared_ptr<int> make() {
    auto part = std::make_shared<int>();
    owner_ = part;
    return part;
  }
  bool gone() const { return owner_.expired(); }

 private:
  std::weak_ptr<int> owner_;
};

TEST_F(Asio, AContextThatGoesTakesItsWaitersAlong) {
  Hold ours = mutex.acquire();
  Witness handler;
  Witness coroutine;
  {
    net::io_context context;
    mutex.async_acquire(net::bind_executor(context, [part = handler.make()](NetError, Hold) { FAIL(); }));
    mutex.async_acquire(net::bind_executor(net::make_strand(context), [](NetError, Hold) { FAIL(); }));
    spawn(context.get_executor(), [&, part = coroutine.make()]() -> net::awaitable<void> {
      const auto kept = part;
      const Hold hold = co_await mutex.async_acquire(net::use_awaitable);
      ADD_FAILURE();
    });
    context.poll();
    ASSERT_TRUE(waiting_becomes(client, 3));
    EXPECT_FALSE(handler.gone());
    EXPECT_FALSE(coroutine.gone());
  }
  EXPECT_TRUE(handler.gone());
  EXPECT_TRUE(coroutine.gone());
  EXPECT_TRUE(waiting_becomes(client, 0)) << "nobody waits for what nobody will hear of";
  ours.release();
  EXPECT_TRUE(becomes_free(mutex));
}

TEST_F(Asio, AHoldThatIsOnItsWayIsReleasedWhenItsContextGoes) {
  Witness handler;
  {
    net::io_context context;
    mutex.async_acquire(net::bind_executor(context, [part = handler.make()](NetError, Hold) { FAIL(); }));
    ASSERT_TRUE(waiting_becomes(client, 0));
    EXPECT_FALSE(mutex.try_acquire_for(10ms)) << "it was granted, and waits to be told";
  }
  EXPECT_TRUE(handler.gone());
  EXPECT_TRUE(becomes_free(mutex));
}

TEST_F(Asio, AContextThatGoesWhileTheLockIsGrantedLeaksNothing) {
  for (int round = 0; round < 500; ++round) {
    Hold ours = mutex.acquire();
    Witness handler;
    {
      net::io_context context;
      mutex.async_acquire(net::bind_executor(context, [part = handler.make()](NetError, Hold) {}));
      std::jthread releasing([hold = std::move(ours)]() mutable { hold = {}; });
      if (round % 2 == 0) context.run_for(std::chrono::microseconds(round % 100));
    }
    ASSERT_TRUE(handler.gone()) << "round " << round;
    ASSERT_TRUE(becomes_free(mutex)) << "round " << round;
  }
}

TEST_F(Asio, AThreadPoolServesManyLocks) {
  constexpr int coroutines = 200;
  net::thread_pool pool(3);
  int counted = 0;  // guarded by the lock
  for (int i = 0; i < coroutines; ++i) {
    spawn(pool.get_executor(), [&]() -> net::awaitable<void> {
      const Hold hold = co_await mutex.async_acquire(net::use_awaitable);
      ++counted;
    });
  }
  pool.join();
  EXPECT_EQ(counted, coroutines);
}

}  // namespace
}  // namespace holdfast::test
