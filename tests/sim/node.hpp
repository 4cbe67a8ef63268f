#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/engine/engine.hpp"
#include "sim/actor.hpp"
#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/sim_backend.hpp"
#include "sim/sim_loop.hpp"
#include "sim/sim_store.hpp"
#include "sim/timeline.hpp"

namespace holdfast::sim {

/// A machine on which one client runs: opened, paused, closed, crashed, and opened again as somebody new.
class Node final : private core::UserSide {
 public:
  struct Place {
    Timeline& timeline;
    Network& network;
    SimStore& store;
    std::uint32_t& lives;  ///< how many clients there were, anywhere
  };
  /// How the clients of a history are set up, beside the plan.
  struct Settings {
    BackendMistakes mistakes = {};
    bool unbounded_hand_over = false;
  };

  Node(const Place& place, const Plan& plan, std::uint8_t index, const Settings& settings);
  ~Node() override { life_.reset(); }

  void open();
  void crash();
  void pause();
  void resume();
  /// Gives everything back. If it is to `reopen`, then when that is done.
  void close();
  void reopen();

  /// When it has something to do.
  Moment next() const { return life_ && !paused_ ? life_->loop.next() : never; }
  void run_due();
  /// A reply or a push has arrived; its place in the network is freed when it was read.
  void deliver(std::uint32_t message);

  bool open_now() const { return life_.has_value(); }
  const core::Engine::Counters& counters() const { return counters_; }

 private:
  struct Life {
    Life(const Timeline& timeline, Clock clock, core::UserSide& user, const core::EngineOptions& options)
        : loop(timeline, clock), engine(loop, user, options) {}

    SimLoop loop;
    core::Engine engine;
    SimBackend* backend = nullptr;
    std::deque<Actor> actors;
    std::uint32_t number = 0;
    bool closed = false;
  };

  // core::UserSide: the user's threads belong to the client, and stop with it.
  void run(base::Task task) override { life_->loop.defer(std::move(task)); }
  void log(LogLevel /*level*/, std::string /*text*/) override {}
  void report(Errc /*code*/, std::string /*what_happened*/) override {}

  core::Cell& cell(std::uint8_t name);
  void read(std::uint32_t message);
  /// What follows everything that the client does.
  void settle();
  void finish_closing();
  void end_life();
  void record(What what, std::uint64_t value = 0);

  const Place place_;
  const Plan& plan_;
  const std::uint8_t index_;
  const Settings settings_;
  std::vector<std::vector<std::uint32_t>> turns_;  ///< of each thread
  std::vector<std::size_t> next_turns_;
  std::optional<Life> life_;
  std::vector<std::uint32_t> delayed_;  ///< what came while it was paused
  bool paused_ = false;
  bool reopens_ = false;
  core::Engine::Counters counters_;
};

}  // namespace holdfast::sim
