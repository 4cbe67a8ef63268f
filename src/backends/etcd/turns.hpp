#pragma once

#include <coroutine>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "spi/loop.hpp"

namespace holdfast::etcd {

/// Calls may overtake each other on their way, so requests about one name wait for each other: one has its turn at a
/// time, in the order in which they came.
class Turns {
 public:
  /// REQUIRES: `loop` outlives it.
  explicit Turns(spi::Loop& loop) : loop_(loop) {}

  /// Whoever has it has the turn of a name, until its end.
  class Held {
   public:
    Held(Turns& turns, std::string name) : turns_(&turns), name_(std::move(name)) {}
    Held(Held&& other) noexcept : turns_(std::exchange(other.turns_, nullptr)), name_(std::move(other.name_)) {}
    Held& operator=(Held&&) = delete;
    ~Held() {
      if (turns_ != nullptr) turns_->pass_on(name_);
    }

   private:
    Turns* turns_;
    std::string name_;
  };

  /// `co_await turns.take(name)`: Held.
  class Taking {
   public:
    Taking(Turns& turns, std::string name) : turns_(turns), name_(std::move(name)) {}
    bool await_ready() { return turns_.closed_ || turns_.lines_.try_emplace(name_).second; }
    void await_suspend(std::coroutine_handle<> waiting) { turns_.lines_.at(name_).push_back(waiting); }
    Held await_resume() { return {turns_, std::move(name_)}; }

   private:
    Turns& turns_;
    std::string name_;
  };
  Taking take(const std::string& name) { return {*this, name}; }

  /// Everybody who waits goes on at once, and nobody waits any more.
  void close();

 private:
  void pass_on(const std::string& name);
  void start_next();

  spi::Loop& loop_;
  std::map<std::string, std::deque<std::coroutine_handle<>>> lines_;  ///< of those that are taken: who waits for it
  std::deque<std::coroutine_handle<>> starting_;  ///< those whose turn has come
  bool closed_ = false;
};

}  // namespace holdfast::etcd
