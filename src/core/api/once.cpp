#include "holdfast/once.hpp"

#include <utility>

#include "core/api/client_lock.hpp"
#include "core/operations/once_steps.hpp"
#include "core/runtime/perform.hpp"

namespace holdfast {

using base::Duration;
using core::Caller;

struct Run::State {
  std::shared_ptr<core::OnceState> once;
  core::BegunRun begun;
  Hold hold;
};

namespace core {

/// What a Once and its runs share.
class OnceState : public std::enable_shared_from_this<OnceState> {
 public:
  OnceState(const Client& client, const LockName& name, std::chrono::milliseconds its_period, OnceOptions options)
      : lock(client, name, std::move(options.lock)), period(its_period), at_least(options.at_least) {}

  Operation<std::optional<BegunRun>> begin(Caller& caller, spi::WhenBusy when_busy) const {
    return begin_run(caller, lock.cell(), period, at_least, lock.options(), when_busy);
  }
  std::optional<Run> run_of(std::optional<BegunRun> begun) {
    if (!begun) return std::nullopt;
    Hold hold = lock.core().hold_of(begun->lock);
    return Run(std::make_unique<Run::State>(Run::State{shared_from_this(), *std::move(begun), std::move(hold)}));
  }

  const ClientLock lock;
  const std::chrono::milliseconds period;
  const std::chrono::milliseconds at_least;
};

}  // namespace core

// --- a run ----------------------------------------------------------------------------------------------------------

Run::Run() noexcept = default;
Run::Run(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;
Run::~Run() = default;

Run::operator bool() const noexcept { return state_ != nullptr; }

const Hold& Run::hold() const {
  if (!state_) throw Error(Errc::not_held, "this Run is empty: it never began, has ended, or was moved from");
  return state_->hold;
}

std::chrono::system_clock::time_point Run::started() const {
  static_cast<void>(hold());
  return state_->begun.started;
}

void Run::succeed(std::int32_t result) {
  const Run ending = std::move(*this);  // which gives the lock back
  ending.remember(result);
}

void Run::record_success(std::int32_t result) { remember(result); }

void Run::remember(std::int32_t result) const {
  static_cast<void>(hold());
  const core::ClientLock& lock = state_->once->lock;
  auto written = lock.core().perform<spi::Nothing>(Duration::max(), {}, [&](Caller& caller) {
    return core::remember_success(caller, lock.name(), state_->begun, result);
  });
  core::value_or_throw(std::move(written), "recording the run of '" + lock.name().text() + "'");
}

void Run::async_succeed(std::int32_t result, AsyncCallback<> callback) {
  static_cast<void>(hold());
  const std::shared_ptr<State> ending = std::move(state_);
  ending->once->lock.core().async_perform<spi::Nothing>(
      {},
      [&](Caller& caller) { return core::remember_success(caller, ending->once->lock.name(), ending->begun, result); },
      [ending, heard = core::heard_by(std::move(callback))](const spi::Result<>& written) mutable {
        ending->hold.release();  // before anybody hears of it
        heard(written);
      });
}

void Run::fail() noexcept { state_.reset(); }

Released Run::release() {
  static_cast<void>(hold());
  return std::exchange(state_, nullptr)->hold.release();
}

// --- the job --------------------------------------------------------------------------------------------------------

Once::Once(Client& client, const LockName& name, std::chrono::milliseconds period, OnceOptions options) {
  if (period <= std::chrono::milliseconds::zero()) {
    throw Error(Errc::invalid_argument, "the period of '" + name.text() + "' must be longer than zero");
  }
  if (options.at_least < std::chrono::milliseconds::zero() || options.at_most < std::chrono::milliseconds::zero()) {
    throw Error(Errc::invalid_argument, "at_least and at_most of '" + name.text() + "' must not be negative");
  }
  options.lock.max_hold = options.at_most;
  state_ = std::make_shared<core::OnceState>(client, name, period, std::move(options));
}

Once::~Once() = default;

std::optional<Run> Once::begin(std::stop_token stop) {
  auto begun = state_->lock.core().perform<std::optional<core::BegunRun>>(
      Duration::max(), stop, [&](Caller& caller) { return state_->begin(caller, spi::WhenBusy::wait); });
  return state_->run_of(core::value_or_throw(std::move(begun), "beginning a run of '" + name().text() + "'"));
}

std::optional<Run> Once::try_begin() { return try_begin_for(Duration::zero()); }

Attempt Once::attempt_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  core::check_wait(name(), wait);
  const auto patience = core::patience_for(wait);
  auto begun = state_->lock.core().perform<std::optional<core::BegunRun>>(
      patience.limit, stop, [&](Caller& caller) { return state_->begin(caller, patience.when_busy); });
  auto answer = core::value_or_empty(std::move(begun), "beginning a run of '" + name().text() + "'");
  if (!answer) return {.outcome = Attempt::Outcome::busy};
  auto run = state_->run_of(*std::move(answer));
  if (!run) return {.outcome = Attempt::Outcome::done};
  return {.outcome = Attempt::Outcome::begun, .run = *std::move(run)};
}

void Once::async_begin(AsyncCallback<std::optional<Run>> callback, std::stop_token stop) {
  state_->lock.core().async_perform<std::optional<core::BegunRun>>(
      std::move(stop), [&](Caller& caller) { return state_->begin(caller, spi::WhenBusy::wait); },
      [state = state_, callback = std::move(callback)](spi::Result<std::optional<core::BegunRun>> begun) mutable {
        if (begun.ok()) return callback({}, state->run_of(std::move(begun.value())));
        callback(begun.failure().code, std::nullopt);
      });
}

bool Once::run(MoveOnlyFunction<void(const Hold& hold)> job, std::stop_token stop) {
  auto begun = begin(std::move(stop));
  if (!begun) return false;
  job(begun->hold());
  begun->succeed();
  return true;
}

bool Once::due() {
  auto due = state_->lock.core().perform<bool>(
      Duration::max(), {}, [&](Caller& caller) { return core::is_due(caller, name(), state_->period); });
  return core::value_or_throw(std::move(due), "reading the last run of '" + name().text() + "'");
}

std::optional<LastRun> Once::last_run() {
  auto run = state_->lock.core().perform<std::optional<LastRun>>(
      Duration::max(), {}, [&](Caller& caller) { return core::last_run(caller, name()); });
  return core::value_or_throw(std::move(run), "reading the last run of '" + name().text() + "'");
}

const LockName& Once::name() const noexcept { return state_->lock.name(); }

}  // namespace holdfast
