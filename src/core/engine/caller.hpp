#pragma once

#include <coroutine>
#include <memory>
#include <optional>

#include "base/instant.hpp"
#include "base/intrusive_list.hpp"
#include "core/engine/cell.hpp"
#include "core/engine/request.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::core {

class Engine;

/// Somebody who waits for an operation: until when, and what makes it end early. What the operation does in the name of
/// its caller ends when the caller is interrupted: cancelled by the user, or because the client is closed.
/// Under the monitor; one wait at a time. The operation goes on from the loop, never inside of what woke it.
class Caller : public base::ListNode<Caller> {
 public:
  Caller(Engine& engine, base::Instant deadline);
  ~Caller();

  Engine& engine() const { return engine_; }
  base::Instant deadline() const { return deadline_; }
  bool late() const;

  /// Ends what it waits for, and everything that it would wait for later.
  void interrupt(spi::Failure why);
  const std::optional<spi::Failure>& interrupted() const { return interrupted_; }
  /// Why the operation must end now, if it must: interrupted, or late.
  std::optional<spi::Failure> why_end() const;

  /// Ends a nap, now or the next one; good for ever, also when the caller has gone.
  class Waker {
   public:
    void operator()() const {
      if (const auto nap = nap_.lock()) nap->wake();
    }

   private:
    friend class Caller;
    struct Nap {
      explicit Nap(spi::Loop& its_loop) : loop(its_loop) {}
      void wake();
      spi::Loop& loop;
      std::coroutine_handle<> sleeper;
      bool woken = false;
    };
    explicit Waker(std::weak_ptr<Nap> nap) : nap_(std::move(nap)) {}
    std::weak_ptr<Nap> nap_;
  };
  Waker waker() const { return Waker(nap_); }

  /// `co_await caller.nap_until(instant)`: until then, or until it is woken or interrupted.
  class NapUntil {
   public:
    NapUntil(Caller& caller, base::Instant until) : caller_(caller), until_(until) {}
    bool await_ready() const { return caller_.interrupted_ || std::exchange(caller_.nap_->woken, false); }
    void await_suspend(std::coroutine_handle<> sleeper);
    void await_resume() const;

   private:
    Caller& caller_;
    const base::Instant until_;
    std::optional<spi::Timer> timer_;
  };
  NapUntil nap_until(base::Instant instant) { return {*this, instant}; }
  NapUntil nap_for(base::Duration duration);

  /// What becomes of a request that will not wait when the store does not answer: it fails, or is asked again, under
  /// the same id, until the caller is late.
  enum class TryInAnOutage : std::uint8_t { fails, goes_on };

  /// `co_await caller.acquire(...)`: a hold, or why there is none. The cell is kept meanwhile.
  /// REQUIRES: `options` outlives it.
  class Acquire {
   public:
    Acquire(Caller& caller, Cell& cell, const LockOptions& options, const spi::Mode& mode, spi::WhenBusy when_busy,
            TryInAnOutage try_in_an_outage);

    bool await_ready() const { return caller_.interrupted_.has_value(); }
    bool await_suspend(std::coroutine_handle<> waiting);
    Request::Answer await_resume();

   private:
    Caller& caller_;
    const KeptCell cell_;
    Request request_;
    std::optional<Request::Answer> answer_;
    std::coroutine_handle<> waiting_;
  };
  Acquire acquire(Cell& cell, const LockOptions& options, const spi::Mode& mode = {},
                  spi::WhenBusy when_busy = spi::WhenBusy::wait,
                  TryInAnOutage try_in_an_outage = TryInAnOutage::fails) {
    return {*this, cell, options, mode, when_busy, try_in_an_outage};
  }

 private:
  Engine& engine_;
  const base::Instant deadline_;
  std::optional<spi::Failure> interrupted_;
  const std::shared_ptr<Waker::Nap> nap_;
  base::Callback<void(spi::Failure)> on_interrupt_;
};

}  // namespace holdfast::core
