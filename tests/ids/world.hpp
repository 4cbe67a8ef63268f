#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "ids/audit.hpp"
#include "ids/issuer.hpp"
#include "ids/sim_store.hpp"

namespace holdfast::ids_sim {

using ids::SnowflakeLayout;

/// What happens in a history, besides traffic.
struct WorldOptions {
  SnowflakeLayout layout = {};
  std::uint32_t nodes = 6;
  std::uint32_t numbers = 8;
  int seconds = 40;
  ids::WhenSetBack when_set_back = ids::WhenSetBack::keep_order;
  bool survive_loss = false;
  bool store_has_clock = true;
  std::chrono::milliseconds guard = std::chrono::seconds(2);

  bool crashes = true;
  bool pauses = true;
  bool outages = true;
  bool messages_suffer = true;
  bool clones = false;
  /// Clocks are off by at most this, and are set within it.
  std::chrono::milliseconds clocks_differ_by = std::chrono::seconds(8);
  bool clocks_are_set = true;
  enum class Loss : std::uint8_t { none, newest, everything };
  Loss loss = Loss::none;
  std::uint32_t loss_depth = 1;
  Store::Versions versions = Store::Versions::counted;

  /// What the node does wrong with the answers that it hears, for the controls.
  enum class Mistake : std::uint8_t {
    none,
    adopts_what_names_me,  ///< takes a refused write for its own if the record names this holder
    believes_in_doubt,     ///< takes a write that was not answered for executed
  };
  Mistake mistake = Mistake::none;
};

/// What came of it.
struct Outcomes {
  std::size_t ids = 0;
  std::vector<std::uint64_t> duplicates = {};
  std::vector<std::string> broken_windows = {};
  std::size_t order_breaks = 0;
  std::size_t ahead_of_clock = 0;  ///< ids that carry a time that no clock of their node has shown
  // Whether the history was worth anything.
  std::uint64_t tenures = 0;
  std::uint64_t lost = 0;
  std::uint64_t doubts = 0;
  std::uint64_t crashes = 0;
  std::uint64_t pauses = 0;
  std::uint64_t clones = 0;
  std::uint64_t losses = 0;
  std::uint64_t refused_clocks = 0;
  std::uint64_t leaves = 0;
  std::vector<std::string> ended_for_good = {};  ///< why, each time
};

/// Several nodes with the real Issuer, one pool of worker numbers, a store that may forget, a network that loses, delays
/// and repeats, and clocks that are set. Everything that is random depends on the seed.
class World {
 public:
  World(const WorldOptions& options, std::uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  Outcomes run();

 private:
  struct Randomness;
  struct Node;
  struct Event {
    Micros at = 0;
    std::uint64_t order = 0;
    std::function<void()> happen = {};
    friend bool operator>(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };

  void make_issuer(Node& node);
  void start(Node& node);
  void stop(Node& node);
  void clone(const Node& original);
  void strike();
  void strike(Node& node);
  void turn(Node& node);
  void ask(Node& node, const ids::WorkerLease::Step& step);
  void send(Node& node, const ids::WorkerLease::Look& look);
  void send(Node& node, const ids::WorkerLease::Write& write);
  void traffic(Node& node);
  bool issue(Node& node, std::uint32_t count);
  void write_down(Node& node);

  void at(Micros when, std::function<void()> happen) { events_.push({when, ++event_order_, std::move(happen)}); }
  ids::WallTime wall(const Node& node) const;
  base::Instant boot() const { return base::Instant(std::chrono::microseconds(now_)); }
  Micros delay() { return 200 + static_cast<Micros>(dice_.below(2800)); }
  bool reaches_store(const Node& node) const;

  const WorldOptions options_;
  Dice dice_;
  Store store_;
  Audit audit_;
  Outcomes outcomes_;
  Micros now_ = 0;
  Micros outage_until_ = 0;
  std::uint64_t event_order_ = 0;
  std::uint64_t lives_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<std::unique_ptr<Node>> nodes_;
  /// What clones may issue twice: ticks of this number before the second.
  std::vector<std::pair<std::uint32_t, std::int64_t>> shared_with_clones_;
};

}  // namespace holdfast::ids_sim
