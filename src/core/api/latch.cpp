#include "holdfast/latch.hpp"

#include <utility>

#include "core/operations/latch_steps.hpp"
#include "core/runtime/perform.hpp"

namespace holdfast {

using base::Duration;
using core::Caller;

Latch::Latch(Client& client, const LockName& name, std::uint32_t count)
    : core_(core::ClientCore::of(client)), name_(name), count_(count) {
  if (count == 0)
    throw Error(Errc::invalid_argument, "latch '" + name.text() + "' must have a count of at least 1, got 0");
}

Latch::~Latch() = default;

std::uint32_t Latch::count_down(std::uint32_t by) {
  auto left = core_->perform<std::uint32_t>(
      Duration::max(), {}, [&](Caller& caller) { return core::count_down(caller, name_, count_, by); });
  return core::value_or_throw(std::move(left), "counting down latch '" + name_.text() + "'");
}

std::uint32_t Latch::missing() {
  auto left = core_->perform<std::uint32_t>(Duration::max(), {},
                                            [&](Caller& caller) { return core::count_missing(caller, name_, count_); });
  return core::value_or_throw(std::move(left), "reading latch '" + name_.text() + "'");
}

void Latch::wait(std::stop_token stop) {
  auto opened = core_->perform<spi::Nothing>(
      Duration::max(), stop, [&](Caller& caller) { return core::wait_until_open(caller, name_, count_); });
  core::value_or_throw(std::move(opened), "waiting for latch '" + name_.text() + "'");
}

bool Latch::wait_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  auto opened = core_->perform<spi::Nothing>(
      wait, stop, [&](Caller& caller) { return core::wait_until_open(caller, name_, count_); });
  return core::value_or_empty(std::move(opened), "waiting for latch '" + name_.text() + "'").has_value();
}

void Latch::async_count_down(std::uint32_t by, AsyncCallback<std::uint32_t> callback) {
  core_->async_perform<std::uint32_t>(
      {}, [&](Caller& caller) { return core::count_down(caller, name_, count_, by); },
      core::heard_by(std::move(callback)));
}

void Latch::async_wait(AsyncCallback<> callback, std::stop_token stop) {
  core_->async_perform<spi::Nothing>(
      std::move(stop), [&](Caller& caller) { return core::wait_until_open(caller, name_, count_); },
      core::heard_by(std::move(callback)));
}

}  // namespace holdfast
