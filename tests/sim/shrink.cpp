#include "sim/shrink.hpp"

#include <algorithm>
#include <functional>

namespace holdfast::sim {

namespace {

using Deadline = std::chrono::steady_clock::time_point;

/// A turn that is gone leaves its time to the same thread's next one, so that the rest happens when it did.
void remove_turn(std::vector<Turn>& turns, std::size_t at) {
  const Turn gone = turns[at];
  turns.erase(turns.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::size_t i = at; i < turns.size(); ++i) {
    if (turns[i].client != gone.client || turns[i].thread != gone.thread) continue;
    turns[i].thinks += gone.thinks + gone.holds;
    return;
  }
}

class Shrinker {
 public:
  Shrinker(Plan plan, const Mistakes& mistakes, Rule rule, Deadline deadline)
      : plan_(std::move(plan)), mistakes_(mistakes), rule_(rule), deadline_(deadline) {}

  Plan run() {
    for (bool smaller = true; smaller && in_time();) {
      smaller = remove_some(plan_.faults.size(), [](Plan& plan, std::size_t at) {
        plan.faults.erase(plan.faults.begin() + static_cast<std::ptrdiff_t>(at));
      });
      smaller |= remove_some(plan_.turns.size(), [](Plan& plan, std::size_t at) { remove_turn(plan.turns, at); });
    }
    simplify();
    return std::move(plan_);
  }

 private:
  /// Removes ever smaller runs of items, for as long as the rule stays broken.
  bool remove_some(std::size_t count, const std::function<void(Plan&, std::size_t)>& remove) {
    bool any = false;
    for (std::size_t run = std::max<std::size_t>(count / 2, 1); run > 0; run /= 2) {
      for (std::size_t from = 0; from < count && in_time();) {
        const std::size_t these = std::min(run, count - from);
        Plan candidate = plan_;
        for (std::size_t i = 0; i < these; ++i) remove(candidate, from + these - 1 - i);
        if (still_broken(candidate)) {
          plan_ = std::move(candidate);
          count -= these;
          any = true;
        } else {
          from += these;
        }
      }
    }
    return any;
  }

  void simplify() {
    try_change([](Plan& plan) {
      plan.store_ppm = 0;
      std::fill(plan.client_ppm.begin(), plan.client_ppm.end(), 0);
    });
    for (std::size_t i = 0; i < plan_.turns.size(); ++i) {
      try_change([i](Plan& plan) { plan.turns[i].writes_after = {}; });
      try_change([i](Plan& plan) { plan.turns[i].extends_after = {}; });
      try_change([i](Plan& plan) { plan.turns[i].downgrades_after = {}; });
      try_change([i](Plan& plan) { plan.turns[i].lock_delay = {}; });
      try_change([i](Plan& plan) { plan.turns[i].cancels_after = {}; });
      try_change([i](Plan& plan) { plan.turns[i].deadline = {}; });
      try_change([i](Plan& plan) { plan.turns[i].listens = false; });
    }
  }

  void try_change(const std::function<void(Plan&)>& change) {
    if (!in_time()) return;
    Plan candidate = plan_;
    change(candidate);
    if (still_broken(candidate)) plan_ = std::move(candidate);
  }

  bool still_broken(const Plan& plan) {
    const auto violations = check(world_.run(plan, mistakes_));
    return std::any_of(violations.begin(), violations.end(), [&](const Violation& each) { return each.rule == rule_; });
  }

  bool in_time() const { return std::chrono::steady_clock::now() < deadline_; }

  Plan plan_;
  const Mistakes& mistakes_;
  const Rule rule_;
  const Deadline deadline_;
  World world_;
};

}  // namespace

Plan shrink(Plan plan, const Mistakes& mistakes, Rule rule, std::chrono::milliseconds budget) {
  return Shrinker(std::move(plan), mistakes, rule, std::chrono::steady_clock::now() + budget).run();
}

}  // namespace holdfast::sim
