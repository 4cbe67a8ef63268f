#pragma once

#include <cstddef>
#include <memory>
#include <ranges>
#include <stop_token>
#include <utility>
#include <vector>

#include "holdfast/hold.hpp"

namespace holdfast::core {

/// Several holds that stand and fall together.
class MultiHoldState : public std::enable_shared_from_this<MultiHoldState> {
 public:
  /// `taken` says in which order: they are given back the other way round.
  MultiHoldState(std::vector<Hold> its_holds, std::vector<std::size_t> taken)
      : holds(std::move(its_holds)), taken_(std::move(taken)) {}
  ~MultiHoldState() {
    for (const std::size_t at : std::views::reverse(taken_)) const Hold released = std::move(holds[at]);
  }
  MultiHoldState(const MultiHoldState&) = delete;
  MultiHoldState& operator=(const MultiHoldState&) = delete;

  /// From now on the loss of one is the loss of all.
  void tie() {
    for (Hold& hold : holds) {
      hold.on_change([weak = weak_from_this()](HoldState state) {
        const auto self = weak.lock();
        if (self && state == HoldState::lost) self->one_was_lost();
      });
    }
  }

  HoldState state() const {
    HoldState worst = HoldState::held;
    for (const Hold& hold : holds) {
      const HoldState state = hold.state();
      if (state == HoldState::lost) return state;
      if (state == HoldState::released || worst == HoldState::held) worst = state;
    }
    return lost.stop_requested() ? HoldState::lost : worst;
  }

  std::vector<Released> release() {
    std::vector<Released> outcomes(holds.size());
    for (const std::size_t at : std::views::reverse(taken_)) outcomes[at] = holds[at].release();
    return outcomes;
  }

  std::vector<Hold> holds;
  std::stop_source lost;

 private:
  void one_was_lost() {
    if (lost.request_stop()) release();
  }

  const std::vector<std::size_t> taken_;
};

}  // namespace holdfast::core
