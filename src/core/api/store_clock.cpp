#include "holdfast/store_clock.hpp"

#include <utility>

#include "base/instant.hpp"
#include "core/runtime/perform.hpp"

namespace holdfast {
namespace {

using base::Duration;
using base::Instant;
using core::Caller;
using core::Operation;

using Answer = std::optional<StoreTime>;
using WallTime = std::chrono::system_clock::time_point;

Operation<Answer> ask_store(Caller& caller) {
  core::Engine& engine = caller.engine();
  if (!engine.traits().has_clock) co_return Answer();
  // Of the attempt that was answered: those before it say nothing about the clock.
  Instant asked;
  auto start = [&](spi::Done<WallTime> done) {
    asked = base::BootClock::now();
    engine.backend().administration().now(std::move(done));
  };
  auto answer = co_await core::ask<WallTime>(caller, core::Persistence::until_contact, core::Effect::none, start);
  if (!answer.ok()) co_return std::move(answer.failure());
  // The store has read its clock at some moment of the round trip.
  const Duration half = (base::BootClock::now() - asked) / 2;
  co_return Answer({answer.value() + half, half});
}

}  // namespace

StoreClock::StoreClock(Client& client) : core_(core::ClientCore::of(client)) {}

StoreClock::~StoreClock() = default;

std::optional<StoreTime> StoreClock::now() {
  auto answer = core_->perform<Answer>(Duration::max(), {}, [](Caller& caller) { return ask_store(caller); });
  return core::value_or_throw(std::move(answer), "asking for the store's time");
}

void StoreClock::async_now(AsyncCallback<std::optional<StoreTime>> callback) {
  core_->async_perform<Answer>(
      {}, [](Caller& caller) { return ask_store(caller); }, core::heard_by(std::move(callback)));
}

}  // namespace holdfast
