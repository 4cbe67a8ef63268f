#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/engine/engine.hpp"
#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/sim_loop.hpp"
#include "sim/sim_store.hpp"
#include "sim/timeline.hpp"

namespace holdfast::sim {

/// One thread of a simulated client: takes its turns one after the other, for as long as the client lives.
///
/// | state    | what the timer is for                              |
/// |----------|----------------------------------------------------|
/// | resting  | -  (nothing left to do, or the client is closed)   |
/// | thinking | entering                                           |
/// | waiting  | changing its mind                                  |
/// | holding  | the next of: writing, extending, sharing, leaving  |
class Actor {
 public:
  /// What it works on. `next` is shared with the actor of the same thread in the client's next life.
  struct Place {
    Timeline& timeline;
    Network& network;
    SimStore& store;
    SimLoop& loop;
    core::Engine& engine;
    const Plan& plan;
    std::span<const std::uint32_t> turns;  ///< of this thread, as indices into the plan
    std::size_t& next;
    std::uint32_t life;
  };

  explicit Actor(const Place& place) : place_(place), timer_(place.loop, [this] { timer_due(); }) {}

  /// Begins with the next turn.
  void start();
  bool finished() const { return place_.next == place_.turns.size() && state_ == State::resting; }

  /// Notes what has become of the hold. Called after everything that the client did.
  void observe();
  /// Looks at the hold before anything else has a chance to happen. Called after a pause.
  void sample();
  /// The client is closed: nothing follows.
  void stop();

 private:
  enum class State { resting, thinking, waiting, holding };

  void timer_due();
  void enter();
  void answered(core::Request::Answer answer);
  void begin_hold(std::shared_ptr<core::HoldRecord> hold);
  void next_step();
  void write();
  void extend();
  void downgrade();
  void note_claim();
  void let_go();
  void release(core::Cell& cell);
  void finish_turn();

  Moment moment(Instant instant) const { return place_.loop.clock().when(instant); }
  core::Cell& cell() const;
  void record(Event event);

  const Place place_;
  const Turn* turn_ = nullptr;
  std::uint32_t turn_index_ = 0;
  State state_ = State::resting;
  spi::Timer timer_;

  LockOptions options_;
  std::optional<core::Request> request_;
  core::Cell* kept_ = nullptr;

  std::shared_ptr<core::HoldRecord> hold_;
  Instant granted_at_ = {};
  Instant valid_until_ = {};  ///< as last seen
  bool lost_ = false;
  bool believes_ = false;  ///< it has looked, and is about to write
  bool has_written_ = false;
  bool has_extended_ = false;
  bool has_downgraded_ = false;
  spi::ClaimId claim_ = {};  ///< on which the hold lives, as last seen
};

}  // namespace holdfast::sim
