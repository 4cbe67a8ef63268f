#include "holdfast/barrier.hpp"

#include <string>
#include <utility>

#include "core/api/client_lock.hpp"
#include "core/operations/barrier_steps.hpp"
#include "core/runtime/perform.hpp"

namespace holdfast {

using base::Duration;
using core::Caller;

Barrier::Barrier(Client& client, const LockName& name, std::uint32_t parties, LockOptions options)
    : core_(core::ClientCore::of(client)), name_(name), parties_(parties), options_(std::move(options)) {
  core::check(options_);
  if (parties < 1 || parties > max_parties) {
    throw Error(Errc::invalid_argument, "barrier '" + name.text() + "' must have between 1 and " +
                                            std::to_string(max_parties) + " parties, got " + std::to_string(parties));
  }
}

Barrier::~Barrier() = default;

std::uint64_t Barrier::arrive_and_wait(std::stop_token stop) {
  auto phase = core_->perform<std::uint64_t>(
      Duration::max(), stop, [&](Caller& caller) { return core::arrive_and_wait(caller, name_, parties_, options_); });
  return core::value_or_throw(std::move(phase), "waiting at barrier '" + name_.text() + "'");
}

std::optional<std::uint64_t> Barrier::arrive_and_wait_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  auto phase = core_->perform<std::uint64_t>(
      wait, stop, [&](Caller& caller) { return core::arrive_and_wait(caller, name_, parties_, options_); });
  return core::value_or_empty(std::move(phase), "waiting at barrier '" + name_.text() + "'");
}

void Barrier::async_arrive_and_wait(AsyncCallback<std::uint64_t> callback, std::stop_token stop) {
  core_->async_perform<std::uint64_t>(
      std::move(stop), [&](Caller& caller) { return core::arrive_and_wait(caller, name_, parties_, options_); },
      core::heard_by(std::move(callback)));
}

}  // namespace holdfast
