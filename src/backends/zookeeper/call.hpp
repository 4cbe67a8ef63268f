#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/instant.hpp"
#include "kit/answer_soon.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::zookeeper {

/// A request of the core that is not answered yet.
class OpenCall {
 public:
  virtual ~OpenCall() = default;
  virtual void fail(spi::Failure failure) = 0;
};

/// All of them.
class Calls {
 public:
  Calls(spi::Loop& loop, std::string store) : loop_(loop), store_(std::move(store)) {}

  spi::Loop& loop() const { return loop_; }
  const std::string& store() const { return store_; }
  /// What says why a call that was never sent could not be: nobody else knows how far the connection has come.
  void ask_why(std::function<spi::Failure()> hindrance) { hindrance_ = std::move(hindrance); }
  spi::Failure why_not_sent() const { return hindrance_(); }
  void add(OpenCall& call) { open_.insert(&call); }
  void erase(OpenCall& call) { open_.erase(&call); }
  void fail_all(const spi::Failure& failure) {
    while (!open_.empty()) (*open_.begin())->fail(failure);
  }

 private:
  spi::Loop& loop_;
  const std::string store_;
  std::function<spi::Failure()> hindrance_;
  std::unordered_set<OpenCall*> open_;
};

/// One request of the core. It is answered once: by its flow, by the end of its patience, or by the end of the client.
/// A flow whose call is over stops at its next step.
template <class T>
class Call final : public OpenCall {
 public:
  Call(Calls& calls, base::Duration patience, spi::Done<T> done)
      : calls_(calls), done_(std::move(done)), timer_(calls.loop(), [this] { run_out(); }) {
    timer_.set(calls.loop().now() + patience);
    calls_.add(*this);
  }
  ~Call() override { calls_.erase(*this); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  bool over() const { return !done_; }
  /// From now on it may happen although nobody hears of it.
  void is_in_doubt() { doubtful_ = true; }
  bool doubtful() const { return doubtful_; }

  void answer(spi::Result<T> result) {
    if (!done_) return;
    timer_.cancel();
    calls_.erase(*this);
    kit::answer_soon(calls_.loop(), std::exchange(done_, {}), std::move(result));
  }
  void fail(spi::Failure failure) override { answer(std::move(failure)); }

 private:
  void run_out() {
    answer(doubtful_ ? spi::Failure{Errc::in_doubt, calls_.store() + " did not answer in time"}
                     : calls_.why_not_sent());
  }

  Calls& calls_;
  spi::Done<T> done_;
  bool doubtful_ = false;
  spi::Timer timer_;
};

template <class T>
using CallPtr = std::shared_ptr<Call<T>>;

template <class T>
CallPtr<T> make_call(Calls& calls, base::Duration patience, spi::Done<T> done) {
  return std::make_shared<Call<T>>(calls, patience, std::move(done));
}

}  // namespace holdfast::zookeeper
