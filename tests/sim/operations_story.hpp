#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/caller.hpp"
#include "core/operations/operation.hpp"
#include "sim/operations_world.hpp"

namespace holdfast::sim {

using core::Caller;
using core::Operation;
using spi::Result;

inline constexpr Moment users_end{milliseconds(3000)};

/// What is deliberately wrong, to see whether it is noticed.
struct Wrong {
  OperationsMistakes store = {};
  bool latch_retries_doubt = false;
  bool publishes_without_looking = false;
  bool runs_without_looking = false;
};

struct Totals {
  std::uint64_t histories = 0;
  std::uint64_t operations = 0;
  std::uint64_t answered = 0;  ///< with success
  std::uint64_t doubtful = 0;
  OperationsWorld::Counters world = {};
};

/// One history: a world, its users, and what is wrong with it.
class Story {
 public:
  Story(std::uint64_t seed, std::size_t clients, const Wrong& its_wrong)
      : world(seed, clients, its_wrong.store), wrong(its_wrong) {
    for (std::size_t at = 0; at < clients; ++at) {
      OperationsClient& client = world.client(at);
      if (world.dice().chance(500)) {
        const Moment pauses = some_time(Moment(), OperationsWorld::faults_end);
        world.at(pauses, [&client] { client.pause(); });
        world.at(pauses + world.dice().between(milliseconds(5), milliseconds(600)), [&client] { client.resume(); });
        ++world.counters.pauses;
      }
      if (at > 0 && world.dice().chance(250)) {
        ++world.counters.deaths;
        world.at(some_time(Moment(), OperationsWorld::faults_end), [this, &client] {
          client.die();
          for (auto& died : on_death_[&client]) died();
        });
      }
    }
  }

  Moment some_time(Moment from, Moment to) { return from + world.dice().between(Duration(0), to - from); }
  /// For as long as the history.
  void keep(std::shared_ptr<void> thing) { kept_.push_back(std::move(thing)); }
  void broken(std::string what) { findings.push_back(std::move(what)); }
  void on_death(OperationsClient& client, std::function<void()> task) { on_death_[&client].push_back(std::move(task)); }

  /// Later, by a client, if it lives then and is not paused.
  void then(OperationsClient& client, Duration after, std::function<void()> task) {
    world.at(world.now() + after, [&client, task = std::move(task)] {
      client.deliver([&client, task] {
        if (!client.dead()) task();
      });
    });
  }

  /// Starts an operation in the name of a caller of its own. `done` hears of it if the client lives then.
  template <class Make, class Done>
  std::shared_ptr<Caller> start(OperationsClient& client, Duration patience, Make make, Done done) {
    ++totals.operations;
    ++unanswered_;
    const Instant deadline = base::saturating_add(client.loop().now(), patience);
    auto caller = std::make_shared<Caller>(client.engine(), deadline);
    std::move(make(*caller)).start([this, caller, &client, done](auto result) mutable {
      --unanswered_;
      if (client.dead()) return;
      if (result.ok()) {
        ++totals.answered;
      } else {
        ++totals.doubtful;
      }
      done(std::move(result));
    });
    return caller;
  }

  /// To the end: everything is answered, and nothing is left behind.
  void finish() {
    if (!world.run_until_quiet()) broken("something goes on for ever");
    for (std::size_t at = 0; at < world.clients(); ++at) world.client(at).close();
    if (!world.run_until_quiet()) broken("closing goes on for ever");
    if (unanswered_ != 0) broken(std::to_string(unanswered_) + " operations were never answered");
    for (std::size_t at = 0; at < world.clients(); ++at) {
      if (!world.client(at).closed()) broken("a client did not close");
      if (world.client(at).left_over() > 0) broken("client " + std::to_string(at) + " left something behind");
    }
    if (!world.store().empty()) broken("the store still has claims");
  }

  OperationsWorld world;
  const Wrong& wrong;
  Totals totals = {};
  std::vector<std::string> findings = {};

 private:
  std::map<OperationsClient*, std::vector<std::function<void()>>> on_death_;
  std::vector<std::shared_ptr<void>> kept_;
  int unanswered_ = 0;
};

/// Each runs the operations of one primitive to the end of a history, and checks it. In the file of its name.
void run_registers(Story& story);
void run_latch(Story& story);
void run_election(Story& story);
void run_once(Story& story);
void run_barrier(Story& story);

}  // namespace holdfast::sim
