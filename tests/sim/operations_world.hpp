#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/memory/store.hpp"
#include "core/engine/engine.hpp"
#include "kit/register_watches.hpp"
#include "sim/dice.hpp"
#include "sim/sim_loop.hpp"
#include "sim/timeline.hpp"

namespace holdfast::sim {

/// Mistakes of a store of registers that the checks must notice.
struct OperationsMistakes {
  bool ignores_version = false;  ///< write_if writes whatever the version is
  bool repeats_adds = false;     ///< the network may repeat what is not conditional
  bool shows_the_dead = false;   ///< who has ended without a release is listed as a holder for ever
};

class OperationsWorld;

/// A client that runs operations: its connection suffers, it pauses, and it may die.
class OperationsClient final : private core::UserSide {
 public:
  OperationsClient(OperationsWorld& world, std::uint32_t number);
  ~OperationsClient() override;

  core::Engine& engine() { return engine_; }
  SimLoop& loop() { return loop_; }
  bool dead() const { return dead_; }

  // For the world.
  Moment next() const { return paused_ || (dead_ && !buried_) ? never : loop_.next(); }
  void run_due();
  void pause() { paused_ = true; }
  void resume();
  /// Nothing that it does is heard of any more, and it hears of nothing. (Its memory is freed at the end.)
  void die() { dead_ = true; }
  /// Also buries whoever died.
  void close();
  /// Something that happens to the client: now, or when it goes on.
  void deliver(base::Task task);
  /// After close(): cells, timers, expectations, requests, callers that are left.
  std::size_t left_over() const;
  bool closed() const { return closed_; }

 private:
  friend class OperationsWorld;
  class Connection;

  void run(base::Task task) override { loop_.defer(std::move(task)); }
  void log(LogLevel /*level*/, std::string /*text*/) override {}
  void report(Errc /*code*/, std::string /*what_happened*/) override {}

  OperationsWorld& world_;
  const std::uint32_t number_;
  SimLoop loop_;
  core::Engine engine_;
  Connection* connection_ = nullptr;
  std::vector<base::Task> delayed_;  ///< what came while it was paused
  bool paused_ = false;
  bool dead_ = false;
  bool buried_ = false;
  bool closed_ = false;
};

/// A store with registers, some clients, and bad connections between them, until faults_end.
class OperationsWorld {
 public:
  static constexpr Moment faults_end{milliseconds(1500)};
  static constexpr milliseconds longest_lateness{1500};

  OperationsWorld(std::uint64_t seed, std::size_t clients, const OperationsMistakes& mistakes);
  ~OperationsWorld();

  Moment now() const { return timeline_.now; }
  Dice& dice() { return dice_; }
  OperationsClient& client(std::size_t at) { return clients_[at]; }
  std::size_t clients() const { return clients_.size(); }
  memory::StoreModel& store() { return store_; }
  std::chrono::system_clock::time_point wall() const {
    return std::chrono::system_clock::time_point(std::chrono::seconds(1'000'000'000)) +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(timeline_.now.time_since_epoch());
  }

  /// Runs `task` then, whatever the clients do.
  void at(Moment moment, base::Task task);
  /// Until nothing happens any more. False if that does not come about.
  bool run_until_quiet(Duration at_most = std::chrono::minutes(2));

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t in_doubt = 0;
    std::uint64_t refused = 0;
    std::uint64_t repeated = 0;
    std::uint64_t deaths = 0;
    std::uint64_t pauses = 0;
  };
  Counters counters = {};
  /// Whether requests about claims may be late or repeated, and so bring back what was given up, for a lease.
  bool unordered_claims = true;
  const OperationsMistakes mistakes;

 private:
  friend class OperationsClient;

  bool faulty() const { return timeline_.now < faults_end; }
  Instant store_now() const { return store_clock_.read(timeline_.now); }
  void tell();

  Timeline timeline_;
  Dice dice_;
  std::uint32_t trouble_;  ///< per mille of the messages that suffer
  const Clock store_clock_;
  memory::StoreModel store_;
  std::deque<OperationsClient> clients_;
  std::vector<base::Task> tasks_;
  std::map<std::string, std::map<std::uint64_t, ClaimStatus>> holders_ever_;  ///< for shows_the_dead
};

}  // namespace holdfast::sim
