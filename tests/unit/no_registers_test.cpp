// A store without registers: what needs them is refused with the reason, before anything is asked of the store.

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "core/operations/barrier_steps.hpp"
#include "core/operations/election_steps.hpp"
#include "core/operations/latch_steps.hpp"
#include "core/operations/once_steps.hpp"
#include "core/operations/store_requests.hpp"
#include "support/scripted_engine.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::Persistence;

/// Its backend throws when it is asked for its registers.
class WithoutRegisters : public testing::Test {
 protected:
  template <class T>
  void expect_refusal(core::Operation<T> operation) {
    std::optional<spi::Result<T>> result;
    std::move(operation).start([&](spi::Result<T> its_result) { result.emplace(std::move(its_result)); });
    client_.loop.run();
    ASSERT_TRUE(result.has_value());
    ASSERT_FALSE(result->ok());
    EXPECT_EQ(result->failure().code, Errc::unsupported);
    EXPECT_NE(result->failure().detail.find("plain does not support registers"), std::string::npos)
        << result->failure().detail;
    EXPECT_TRUE(client_.store->acquires.empty()) << "nothing was asked for";
  }

  const LockName name_ = "name";
  const LockOptions options_ = {.ttl = 3s};
  ScriptedEngine client_{{}, {.store = "plain", .registers = false}};
  core::Caller caller_{client_.engine, base::Instant::max()};
};

TEST_F(WithoutRegisters, ValuesAreRefused) {
  expect_refusal(core::read(caller_, name_, Persistence::until_contact));
  expect_refusal(core::write_if(caller_, name_, 0, "value"));
  expect_refusal(core::set(caller_, name_, "value"));
  expect_refusal(core::add(caller_, name_, 1));
  expect_refusal(core::changed(caller_, name_, 0));
}

TEST_F(WithoutRegisters, RunsAreRefused) {
  core::KeptCell cell(client_.engine.cell(name_));
  expect_refusal(core::begin_run(caller_, *cell, 1h, 0ms, options_, spi::WhenBusy::refuse));
  expect_refusal(core::is_due(caller_, name_, 1h));
  expect_refusal(core::last_run(caller_, name_));
}

TEST_F(WithoutRegisters, ElectionsAreRefused) {
  expect_refusal(core::campaign(caller_, name_, "value", options_, spi::WhenBusy::wait));
  expect_refusal(core::observe(caller_, name_, [](const Leader&) { ADD_FAILURE() << "nobody leads"; }));
}

TEST_F(WithoutRegisters, LatchesAndBarriersAreRefused) {
  expect_refusal(core::count_down(caller_, name_, 3, 1));
  expect_refusal(core::wait_until_open(caller_, name_, 3));
  expect_refusal(core::arrive_and_wait(caller_, name_, 3, options_));
}

}  // namespace
}  // namespace holdfast::test
