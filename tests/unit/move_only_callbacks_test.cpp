// Each call that takes a callable accepts one that owns something: what can be moved and not copied.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

#include "holdfast/holdfast.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

/// A callable that owns something and, when it is called, makes the future that belongs to it ready.
class Owning {
 public:
  std::future<void> called() { return promise_.get_future(); }
  template <class... Arguments>
  void operator()(Arguments&&...) {
    if (std::exchange(*fresh_, false)) promise_.set_value();
  }

 private:
  std::unique_ptr<bool> fresh_ = std::make_unique<bool>(true);
  std::promise<void> promise_;
};
static_assert(!std::is_copy_constructible_v<Owning>);

/// Whether `call` calls the callable that it is given.
template <class Call>
bool calls_it(Call call) {
  Owning owning;
  const auto called = owning.called();
  call(std::move(owning));
  return called.wait_for(30s) == std::future_status::ready;
}

TEST(MoveOnlyCallbacks, HearHowAnAsynchronousAcquireEnded) {
  Client client("memory:");
  Mutex mutex(client, "mutex");
  SharedMutex shared(client, "shared");
  Semaphore semaphore(client, "semaphore", 2);
  MultiLock both(client, {"one", "two"});
  EXPECT_TRUE(calls_it([&](Owning owning) { mutex.async_acquire(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { mutex.async_try_acquire_for(1s, std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { shared.async_acquire(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { shared.async_acquire_shared(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { semaphore.async_acquire(1, std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { both.async_acquire(std::move(owning)); }));
}

TEST(MoveOnlyCallbacks, HearOfAHold) {
  Client client("memory:");
  SharedMutex mutex(client, "mutex");
  Hold hold = mutex.acquire();
  EXPECT_TRUE(calls_it([&](Owning owning) { hold.async_extend(1s, std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { hold.async_downgrade(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) {
    hold.on_release_request(std::move(owning));
    client.ask_to_release("mutex", {.reason = "for a test"});
  }));
  EXPECT_TRUE(calls_it([&](Owning owning) {
    hold.on_change(std::move(owning));
    client.evict("mutex");
  }));
  EXPECT_TRUE(calls_it([&](Owning owning) { hold.async_release(std::move(owning)); }));
}

TEST(MoveOnlyCallbacks, HearOfAnElection) {
  Client client("memory:");
  Election election(client, "election");
  EXPECT_TRUE(calls_it([&](Owning owning) { election.async_campaign("first", std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { election.async_campaign("again", std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { election.async_proclaim("second", std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { election.async_leader(std::move(owning)); }));
  Observation observation;
  EXPECT_TRUE(calls_it([&](Owning owning) { observation = election.observe(std::move(owning)); }));
  observation = Observation();
  EXPECT_TRUE(calls_it([&](Owning owning) { election.async_resign(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { election.async_resign(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { election.lead("third", std::move(owning)); }));
}

TEST(MoveOnlyCallbacks, HearOfARun) {
  Client client("memory:");
  Once once(client, "once", 1h);
  EXPECT_TRUE(calls_it([&](Owning owning) {
    once.async_begin([owning = std::move(owning)](std::error_code error, std::optional<holdfast::Run> run) mutable {
      ASSERT_FALSE(error);
      ASSERT_TRUE(run);
      run->async_succeed(0, std::move(owning));
    });
  }));
  EXPECT_TRUE(calls_it([&](Owning owning) { once.async_begin(std::move(owning)); }));
  Once other(client, "other", 1h);
  EXPECT_TRUE(calls_it([&](Owning owning) { other.run(std::move(owning)); }));
}

TEST(MoveOnlyCallbacks, HearOfARegisterALatchAndABarrier) {
  Client client("memory:");
  Register value(client, "value");
  EXPECT_TRUE(calls_it([&](Owning owning) { value.async_get(std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { value.async_set("1", std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { value.async_compare_and_set(0, "2", std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { value.async_add(1, std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { value.async_wait_for_change(0, std::move(owning)); }));
  const auto written = value.update([text = std::make_unique<std::string>("3")](const std::string&) { return *text; });
  EXPECT_EQ(written.value, "3");
  Latch latch(client, "latch", 1);
  EXPECT_TRUE(calls_it([&](Owning owning) { latch.async_count_down(1, std::move(owning)); }));
  EXPECT_TRUE(calls_it([&](Owning owning) { latch.async_wait(std::move(owning)); }));
  Barrier barrier(client, "barrier", 1);
  EXPECT_TRUE(calls_it([&](Owning owning) { barrier.async_arrive_and_wait(std::move(owning)); }));
}

TEST(MoveOnlyCallbacks, WriteBehindAFence) {
  const test::TemporaryDirectory directory;
  FileFence fence(directory.path() / "fence");
  EXPECT_TRUE(calls_it([&](Owning owning) { EXPECT_TRUE(fence.write(Token(1), std::move(owning))); }));
  FenceGate gate;
  EXPECT_TRUE(calls_it([&](Owning owning) { EXPECT_TRUE(gate.write(Token(1), std::move(owning))); }));
}

TEST(MoveOnlyFunction, IsEmptyIfItIsMadeOfNothing) {
  EXPECT_FALSE(MoveOnlyFunction<void()>());
  EXPECT_FALSE(MoveOnlyFunction<void()>(nullptr));
  EXPECT_FALSE(MoveOnlyFunction<void()>(std::function<void()>()));
  EXPECT_FALSE(MoveOnlyFunction<void()>(MoveOnlyFunction<void(), 8>()));
  void (*const no_function)() = nullptr;
  EXPECT_FALSE(MoveOnlyFunction<void()>(no_function));
  EXPECT_TRUE(MoveOnlyFunction<void()>([] {}));
}

TEST(MoveOnlyFunction, DropsWhatAVoidFunctionReturns) {
  int calls = 0;
  MoveOnlyFunction<void()> function = [&] { return ++calls; };
  function();
  EXPECT_EQ(calls, 1);
}

TEST(MoveOnlyFunction, RemovesTheCallbackOfAHold) {
  Client client("memory:");
  Hold hold = Mutex(client, "mutex").acquire();
  hold.on_change([](HoldState) { ADD_FAILURE() << "was removed"; });
  hold.on_change(nullptr);
  client.evict("mutex");
  client.close();
}

}  // namespace
}  // namespace holdfast
