#pragma once

#include <coroutine>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace holdfast::zookeeper {

/// Requests that belong together are executed in the order in which they were made, although each takes several steps:
/// a flow enters under the name that they share, and those behind it wait until it leaves.
class NameGate {
 public:
  class Pass {
   public:
    Pass(NameGate& gate, std::string name) : gate_(&gate), name_(std::move(name)) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), name_(std::move(other.name_)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() { leave(); }

    void leave() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->open(name_);
    }

   private:
    NameGate* gate_;
    std::string name_;
  };

  /// To be awaited; gives a Pass.
  struct Entry {
    NameGate& gate;
    std::string name;

    bool await_ready() { return gate.lines_.try_emplace(name).second; }
    void await_suspend(std::coroutine_handle<> waiter) { gate.lines_[name].push_back(waiter); }
    Pass await_resume() { return {gate, name}; }
  };
  bool is_free(const std::string& name) const { return !lines_.contains(name); }
  Entry enter(std::string name) { return {*this, std::move(name)}; }

 private:
  friend struct Entry;

  void open(const std::string& name) {
    const auto found = lines_.find(name);
    if (found->second.empty()) {
      lines_.erase(found);
      return;
    }
    next_.push_back(found->second.front());
    found->second.pop_front();
    if (std::exchange(opening_, true)) return;  // one after the other, not one inside the other
    while (!next_.empty()) {
      const std::coroutine_handle<> next = next_.front();
      next_.pop_front();
      next.resume();
    }
    opening_ = false;
  }

  std::unordered_map<std::string, std::deque<std::coroutine_handle<>>> lines_;  ///< there while somebody is inside
  std::deque<std::coroutine_handle<>> next_;
  bool opening_ = false;
};

}  // namespace holdfast::zookeeper
