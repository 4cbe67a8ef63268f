#include "core/engine/caller.hpp"

#include <utility>

#include "core/engine/engine.hpp"

namespace holdfast::core {

using base::Instant;
using spi::Failure;

Caller::Caller(Engine& engine, Instant deadline)
    : engine_(engine), deadline_(deadline), nap_(std::make_shared<Waker::Nap>(engine.loop())) {
  engine_.callers().push_back(*this);
}

Caller::~Caller() { engine_.callers().remove(*this); }

bool Caller::late() const { return engine_.loop().now() >= deadline_; }

std::optional<Failure> Caller::why_end() const {
  if (interrupted_) return interrupted_;
  if (late()) return Failure{Errc::timed_out};
  return std::nullopt;
}

void Caller::interrupt(Failure why) {
  if (interrupted_) return;
  interrupted_ = std::move(why);
  if (on_interrupt_) std::exchange(on_interrupt_, {})(*interrupted_);
}

void Caller::Waker::Nap::wake() {
  if (sleeper) {
    loop.defer([woken_up = std::exchange(sleeper, nullptr)] { woken_up.resume(); });
  } else {
    woken = true;
  }
}

Caller::NapUntil Caller::nap_for(base::Duration duration) {
  return nap_until(base::saturating_add(engine_.loop().now(), duration));
}

void Caller::NapUntil::await_suspend(std::coroutine_handle<> sleeper) {
  caller_.nap_->sleeper = sleeper;
  const auto wake = [nap = caller_.nap_.get()] { nap->wake(); };
  timer_.emplace(caller_.engine_.loop(), wake);
  timer_->set(std::min(until_, caller_.deadline_));
  caller_.on_interrupt_ = [wake](const Failure&) { wake(); };
}

void Caller::NapUntil::await_resume() const { caller_.on_interrupt_.reset(); }

Caller::Acquire::Acquire(Caller& caller, Cell& cell, const LockOptions& options, const spi::Mode& mode,
                         spi::WhenBusy when_busy, TryInAnOutage try_in_an_outage)
    : caller_(caller),
      cell_(cell),
      request_(
          // Whoever will not wait has no deadline either: it is answered soon, and then it is known what it has.
          options, when_busy, when_busy == spi::WhenBusy::refuse ? base::Instant::max() : caller.deadline_,
          [this](Request::Answer answer) {
            answer_.emplace(std::move(answer));
            if (waiting_) caller_.engine_.loop().defer([waiting = waiting_] { waiting.resume(); });
          },
          mode) {
  if (try_in_an_outage == TryInAnOutage::goes_on) request_.outlasts_failures_until = caller.deadline_;
}

bool Caller::Acquire::await_suspend(std::coroutine_handle<> waiting) {
  cell_->enter(request_);
  if (answer_) return false;
  waiting_ = waiting;
  caller_.on_interrupt_ = [this](Failure why) { cell_->cancel(request_, std::move(why)); };
  return true;
}

Request::Answer Caller::Acquire::await_resume() {
  caller_.on_interrupt_.reset();
  if (!answer_) return *caller_.interrupted_;
  return std::move(*answer_);
}

}  // namespace holdfast::core
