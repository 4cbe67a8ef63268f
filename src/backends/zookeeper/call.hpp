#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/instant.hpp"
#include "kit/answer_soon.hpp"
#include "spi/loop.hpp"
#include "spi/operation.hpp"
#include "spi/result.hpp"

namespace holdfast::zookeeper {

/// A request of the core that an operation works on. It is answered once: with the operation's result, by the end of
/// its patience, or by the end of the client. (The C library keeps no time limits of its own for single requests.)
///
/// An operation whose call is over ends at its next step, with `nobody_waits`.
class Call {
 public:
  virtual ~Call() = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  virtual bool over() const = 0;
  virtual void fail(spi::Failure failure) = 0;

  /// From now on the request may be executed although nobody hears of it.
  void is_in_doubt() { doubtful_ = true; }
  bool doubtful() const { return doubtful_; }

 protected:
  Call() = default;

 private:
  bool doubtful_ = false;
};

using CallPtr = std::shared_ptr<Call>;

/// The result of an operation whose call is over; nobody hears it.
inline spi::Failure nobody_waits() { return {Errc::in_doubt, "the request has been answered before"}; }

/// The calls that are not answered yet.
class Calls {
 public:
  Calls(spi::Loop& loop, std::string store) : loop_(loop), store_(std::move(store)) {}

  spi::Loop& loop() const { return loop_; }
  /// `why` explains why a call could not even be sent; only the sessions know how far their connections have come.
  void ask_why(std::function<spi::Failure()> why) { why_not_sent_ = std::move(why); }

  /// Starts `operation(call)`, a spi::Operation<T>, which has `patience` to answer `done`.
  template <class T, class Operation>
  void start(base::Duration patience, spi::Done<T> done, Operation operation) {
    const auto call = std::make_shared<CallFor<T>>(*this, patience, std::move(done));
    spi::Operation<T> work = operation(CallPtr(call));
    std::move(work).start([call](spi::Result<T> result) { call->answer(std::move(result)); });
  }

  void fail_all(const spi::Failure& failure) {
    while (!open_.empty()) (*open_.begin())->fail(failure);
  }

 private:
  template <class T>
  class CallFor final : public Call {
   public:
    CallFor(Calls& calls, base::Duration patience, spi::Done<T> done)
        : calls_(calls), done_(std::move(done)), timer_(calls.loop_, [this] { run_out(); }) {
      timer_.set(calls.loop_.now() + patience);
      calls_.open_.insert(this);
    }

    bool over() const override { return !done_; }
    void fail(spi::Failure failure) override { answer(std::move(failure)); }

    void answer(spi::Result<T> result) {
      if (!done_) return;
      timer_.cancel();
      calls_.open_.erase(this);
      kit::answer_soon(calls_.loop_, std::exchange(done_, {}), std::move(result));
    }

   private:
    void run_out() {
      answer(doubtful() ? spi::Failure{Errc::in_doubt, calls_.store_ + " did not answer in time"}
                        : calls_.why_not_sent_());
    }

    Calls& calls_;
    spi::Done<T> done_;
    spi::Timer timer_;
  };

  spi::Loop& loop_;
  const std::string store_;
  std::function<spi::Failure()> why_not_sent_;
  std::unordered_set<Call*> open_;
};

}  // namespace holdfast::zookeeper
