#pragma once

#include <cstdint>
#include <deque>

#include "sim/network.hpp"
#include "sim/node.hpp"
#include "sim/plan.hpp"
#include "sim/sim_store.hpp"
#include "sim/statistics.hpp"
#include "sim/timeline.hpp"

namespace holdfast::sim {

/// What is deliberately wrong in a world, to see whether the checker notices.
struct Mistakes {
  memory::StoreRules store = {};
  Node::Settings clients = {};
};

/// A store, a network and some clients, and all that happens to them according to a plan. One thread, virtual time;
/// the same plan gives the same history. Used again and again, so that it need not allocate anew.
class World {
 public:
  World() = default;

  /// REQUIRES: `plan` lives until this returns. The history is valid until the next run.
  const History& run(const Plan& plan, const Mistakes& mistakes = {});

  /// Adds the last run's figures.
  void count(Statistics& statistics) const;

 private:
  void set_up(const Plan& plan, const Mistakes& mistakes);
  /// Until nothing is left to happen.
  void run_until_quiet();
  bool step();
  void dispatch(const EventQueue::Entry& entry);
  void begin(std::uint32_t fault);
  void end(std::uint32_t fault);
  void request_arrived(std::uint32_t message);
  void write_arrived(std::uint32_t message);

  const Plan* plan_ = nullptr;
  Timeline timeline_;
  Network network_{timeline_};
  SimStore store_{timeline_, network_};
  std::deque<Node> nodes_;
  std::uint32_t lives_ = 0;
  std::vector<std::uint64_t> accepted_tokens_;  ///< by the fenced resource, per name
  std::uint32_t stopped_ = 0;                   ///< reasons for the store to be down
  std::uint64_t steps_ = 0;
};

}  // namespace holdfast::sim
