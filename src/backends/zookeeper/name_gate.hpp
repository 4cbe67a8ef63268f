#pragma once

#include <algorithm>
#include <coroutine>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace holdfast::zookeeper {

/// Requests that belong together are executed in the order in which they were made, although each takes several steps:
/// a flow takes a place under the name that they share, and those behind it wait until it leaves.
///
/// Who needs several places takes all of them before it awaits the first: then nobody waits in a circle.
class NameGate {
  struct Turn {
    bool has_come = false;
    std::coroutine_handle<> waiter = {};
  };

 public:
  /// To be awaited; then it is inside, until it leaves or ends.
  class Place {
   public:
    Place(NameGate& gate, std::string name) : gate_(&gate), name_(std::move(name)) {
      auto& line = gate_->lines_[name_];
      turn_->has_come = line.empty();
      line.push_back(turn_);
    }
    Place(Place&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), name_(std::move(other.name_)), turn_(std::move(other.turn_)) {}
    Place& operator=(Place&&) = delete;
    ~Place() { leave(); }

    bool await_ready() const noexcept { return turn_->has_come; }
    void await_suspend(std::coroutine_handle<> waiter) const noexcept { turn_->waiter = waiter; }
    void await_resume() const noexcept {}

    void leave() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->leave(name_, turn_);
    }

   private:
    NameGate* gate_;
    std::string name_;
    std::shared_ptr<Turn> turn_ = std::make_shared<Turn>();
  };

  bool is_free(const std::string& name) const { return !lines_.contains(name); }
  Place enter(std::string name) { return {*this, std::move(name)}; }

 private:
  void leave(const std::string& name, const std::shared_ptr<Turn>& turn) {
    const auto found = lines_.find(name);
    auto& line = found->second;
    line.erase(std::find(line.begin(), line.end(), turn));
    if (line.empty()) {
      lines_.erase(found);
      return;
    }
    Turn& next = *line.front();
    if (std::exchange(next.has_come, true) || !next.waiter) return;
    next_.push_back(std::exchange(next.waiter, {}));
    if (std::exchange(opening_, true)) return;  // one after the other, not one inside the other
    while (!next_.empty()) {
      const std::coroutine_handle<> waiter = next_.front();
      next_.pop_front();
      waiter.resume();
    }
    opening_ = false;
  }

  std::unordered_map<std::string, std::deque<std::shared_ptr<Turn>>> lines_;  ///< the first of each is inside
  std::deque<std::coroutine_handle<>> next_;
  bool opening_ = false;
};

}  // namespace holdfast::zookeeper
