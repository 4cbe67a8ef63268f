#include "ids/world.hpp"

#include <algorithm>

namespace holdfast::ids_sim {

using base::Duration;
using ids::Issuer;
using ids::Reply;
using ids::WallTime;
using ids::WorkerLease;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

constexpr Micros millisecond = 1000;
constexpr Micros second = 1000 * millisecond;
/// When histories begin.
constexpr auto birthday = std::chrono::sys_days(std::chrono::November / 1 / 2026);

/// A clock as issue() reads it: the coarse one ticks every 4 ms.
struct SimClock {
  WallTime wall;
  const SnowflakeLayout& layout;
  std::int64_t coarse() const {
    const auto step = std::chrono::milliseconds(4);
    return layout.tick_of(WallTime(wall.time_since_epoch() / step * step));
  }
  std::int64_t exact() const { return layout.tick_of(wall); }
};

}  // namespace

/// The random numbers of a node. A clone repeats what its original has drawn, and then draws its own.
struct World::Randomness {
  explicit Randomness(Dice its_dice) : dice(its_dice) {}
  std::uint64_t draw() {
    if (repeated == drawn.size()) drawn.push_back(dice.next());
    return drawn[repeated++];
  }
  Dice dice;
  std::vector<std::uint64_t> drawn = {};
  std::size_t repeated = 0;
};

struct World::Node {
  std::uint64_t life = 0;
  std::string holder = {};
  bool leaving = false;
  microseconds offset = {};  ///< of its clock
  std::shared_ptr<Randomness> randomness = {};
  std::unique_ptr<Issuer> issuer = {};
  /// All that was done to the issuer, so that a clone can be made.
  std::vector<std::function<void(Issuer&)>> log = {};

  std::uint64_t awaits = 0;  ///< the request that was not answered yet; 0: none
  std::vector<std::pair<std::uint64_t, std::function<void(Node&)>>> inbox = {};
  std::size_t numbers_asked = 0;
  std::optional<std::pair<std::uint32_t, std::int64_t>> writing = {};  ///< the number and hwm of a write under way
  Micros rests_until = 0;
  Micros paused_until = 0;
  Micros cut_off_until = 0;

  std::uint64_t serial = 0;  ///< of the grant that the audit knows as
  std::size_t grant = 0;
  std::uint64_t next = 0;  ///< the position after the last one that was issued, or where the grant starts
  std::optional<std::uint64_t> last_id = {};
  std::int64_t latest_tick = 0;  ///< that its clock has ever shown

  template <class Do>
  void act(bool is_logged, Do what) {
    what(*issuer);
    if (is_logged) log.push_back(what);
  }
};

World::World(const WorldOptions& options, std::uint64_t seed)
    : options_(options), dice_(seed), store_(options.numbers, options.versions), audit_(options.layout) {
  for (std::uint32_t i = 0; i < options_.nodes; ++i) {
    auto& node = *nodes_.emplace_back(std::make_unique<Node>());
    const auto most = std::chrono::duration_cast<microseconds>(options_.clocks_differ_by) / 2;
    node.offset = dice_.between(-most, most);
    start(node);
  }
}

World::~World() = default;

bool World::reaches_store(const Node& node) const { return now_ >= std::max(outage_until_, node.cut_off_until); }

WallTime World::wall(const Node& node) const { return birthday + microseconds(now_) + node.offset; }

/// A new process, or, with the log and the random numbers of another one, its clone.
void World::make_issuer(Node& node) {
  const ids::LeaseRules rules = {.layout = options_.layout,
                                 .workers = options_.numbers,
                                 .survive_loss = options_.survive_loss,
                                 .guard = options_.guard,
                                 .store_has_clock = options_.store_has_clock,
                                 .pool = "sim",
                                 .holder = node.holder};
  node.issuer = std::make_unique<Issuer>(rules, options_.when_set_back,
                                         [randomness = node.randomness] { return randomness->draw(); });
  for (const auto& each : node.log) each(*node.issuer);
}

void World::start(Node& node) {
  node.life = ++lives_;
  node.holder = "node " + std::to_string(node.life);
  node.randomness = std::make_shared<Randomness>(Dice(dice_.next()));
  node.log.clear();
  make_issuer(node);
  node.leaving = false;
  node.awaits = 0;
  node.inbox.clear();
  node.writing.reset();
  node.rests_until = 0;
  node.cut_off_until = 0;
  node.serial = 0;
  node.last_id.reset();
  node.latest_tick = options_.layout.tick_of(wall(node));
}

void World::stop(Node& node) {
  const WorkerLease::Counters& counters = node.issuer->counters();
  outcomes_.tenures += counters.tenures;
  outcomes_.lost += counters.lost;
  outcomes_.doubts += counters.doubts;
  if (node.issuer->trouble() && node.issuer->trouble()->code == Errc::wrong_clock) ++outcomes_.refused_clocks;
  node.issuer.reset();
}

/// Another node with the same memory, from now on. What was under way to the original is answered to it alone: the
/// clone hears that the outcome is in doubt.
void World::clone(const Node& original) {
  ++outcomes_.clones;
  auto& copy = *nodes_.emplace_back(std::make_unique<Node>());
  copy.life = ++lives_;
  copy.holder = original.holder;
  copy.offset = original.offset;
  copy.randomness = std::make_shared<Randomness>(Dice(dice_.next()));
  copy.randomness->drawn = original.randomness->drawn;
  copy.log = original.log;
  make_issuer(copy);
  copy.leaving = original.leaving;
  copy.writing = original.writing;
  copy.latest_tick = original.latest_tick;
  if (original.awaits != 0) {
    copy.awaits = ++event_order_;
    const bool writes = original.writing.has_value();
    WorkerLease::Looked nothing;
    nothing.pool.code = nothing.clock.code = Errc::unreachable;
    nothing.numbers.resize(original.numbers_asked, {.value = {}, .code = Errc::unreachable, .detail = {}});
    copy.inbox.emplace_back(copy.awaits, [this, writes, nothing](Node& node) {
      node.act(options_.clones, [writes, nothing, now = wall(node), boot = boot()](Issuer& issuer) {
        if (writes) return issuer.wrote({.code = Errc::in_doubt}, now, boot);
        issuer.looked(nothing, now, boot);
      });
    });
  }
  if (const ids::Grant* grant = copy.issuer->grant()) {
    shared_with_clones_.emplace_back(
        grant->worker(),
        static_cast<std::int64_t>(grant->limit() >> static_cast<unsigned>(options_.layout.fields().sequence_bits)));
  }
  if (original.writing) shared_with_clones_.push_back(*original.writing);
  write_down(copy);
}

Outcomes World::run() {
  const Micros end = options_.seconds * second;
  for (; now_ < end; now_ += millisecond) {
    while (!events_.empty() && events_.top().at <= now_) {
      const auto happen = events_.top().happen;
      events_.pop();
      happen();
    }
    strike();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& node = *nodes_[i];
      strike(node);
      if (now_ < node.paused_until) continue;
      turn(node);
      traffic(node);
    }
  }
  for (auto& node : nodes_) stop(*node);
  outcomes_.ids = audit_.ids();
  outcomes_.duplicates = audit_.duplicates();
  std::erase_if(outcomes_.duplicates, [&](std::uint64_t id) {
    const auto parts = options_.layout.decode(id);
    const std::int64_t tick = options_.layout.tick_of(parts.time);
    return std::ranges::any_of(
        shared_with_clones_, [&](const auto& shared) { return shared.first == parts.worker && tick < shared.second; });
  });
  if (!options_.clones) outcomes_.broken_windows = audit_.broken_windows();
  return std::move(outcomes_);
}

// --- faults ---------------------------------------------------------------------------------------------------------

void World::strike() {
  if (options_.outages && dice_.below(20'000) == 0) {
    const Micros length = dice_.chance(200) ? 15 * second : 100 * millisecond;
    outage_until_ = now_ + length + dice_.below(8000) * millisecond;
  }
  if (options_.loss != WorldOptions::Loss::none && dice_.below(6000) == 0) {
    ++outcomes_.losses;
    if (options_.loss == WorldOptions::Loss::newest) store_.lose_newest(dice_, options_.loss_depth);
    if (options_.loss == WorldOptions::Loss::everything) store_.lose_everything();
  }
  if (options_.clones && dice_.below(10'000) == 0 && nodes_.size() < options_.nodes + 4) {
    clone(*nodes_[dice_.below(static_cast<std::uint32_t>(nodes_.size()))]);
  }
}

void World::strike(Node& node) {
  if (options_.crashes && dice_.below(15'000) == 0) {
    ++outcomes_.crashes;
    stop(node);
    start(node);
  }
  if (options_.crashes && !node.leaving && dice_.below(15'000) == 0) {
    node.leaving = true;
    node.rests_until = 0;
    node.act(options_.clones, [](Issuer& issuer) { issuer.leave_for_good(); });
    write_down(node);
  }
  if (options_.pauses && dice_.below(15'000) == 0) {
    ++outcomes_.pauses;
    node.paused_until = now_ + (100 + dice_.below(dice_.chance(200) ? 25'000 : 9000)) * millisecond;
  }
  if (options_.outages && dice_.below(15'000) == 0) {
    node.cut_off_until = now_ + (500 + dice_.below(dice_.chance(200) ? 25'000 : 8500)) * millisecond;
  }
  if (options_.clocks_are_set && dice_.below(10'000) == 0) {
    constexpr std::int64_t steps[] = {-5000, -1500, -1000, -300, 300, 1500, 3000, 6000};  // NOLINT: a table
    const auto most = std::chrono::duration_cast<microseconds>(options_.clocks_differ_by) / 2;
    node.offset = std::clamp<microseconds>(node.offset + milliseconds(steps[dice_.below(8)]), -most, most);
  }
}

// --- requests -------------------------------------------------------------------------------------------------------

void World::turn(Node& node) {
  node.latest_tick = std::max(node.latest_tick, options_.layout.tick_of(wall(node)));
  for (auto& [request, answer] : std::exchange(node.inbox, {})) {
    if (request != node.awaits) continue;  // heard before
    node.awaits = 0;
    answer(node);
    node.writing.reset();
    node.rests_until = 0;
    write_down(node);
  }
  if (node.awaits != 0 || now_ < node.rests_until) return;
  WorkerLease::Step next;
  node.act(options_.clones,
           [&next, now = wall(node), boot = boot()](Issuer& issuer) { next = issuer.step(now, boot); });
  // What `next` refers to has gone when a clone does the same.
  if (options_.clones) {
    node.log.back() = [now = wall(node), boot = boot()](Issuer& issuer) { issuer.step(now, boot); };
  }
  write_down(node);
  if (const auto* rest = std::get_if<WorkerLease::Rest>(&next)) {
    node.rests_until = std::chrono::ceil<microseconds>(rest->until.time_since_epoch()).count();
  } else if (const auto* look = std::get_if<WorkerLease::Look>(&next)) {
    send(node, *look);
  } else if (const auto* write = std::get_if<WorkerLease::Write>(&next)) {
    send(node, *write);
  } else if (node.leaving) {
    ++outcomes_.leaves;
    stop(node);
    start(node);
  } else {
    outcomes_.ended_for_good.push_back(node.issuer->trouble() ? node.issuer->trouble()->what : "nothing");
    node.rests_until = now_ + 1000 * second;
  }
}

void World::send(Node& node, const WorkerLease::Look& look) {
  const std::uint64_t request = node.awaits = ++event_order_;
  node.numbers_asked = look.numbers.size();
  Node* const to = &node;
  const auto answer = [this, to, request, life = node.life](WorkerLease::Looked looked) {
    if (to->life != life) return;
    to->inbox.emplace_back(request, [this, looked](Node& heard) {
      heard.act(options_.clones,
                [looked, now = wall(heard), boot = boot()](Issuer& issuer) { issuer.looked(looked, now, boot); });
    });
  };
  const Micros sent = now_;
  const bool lost = !reaches_store(node) || (options_.messages_suffer && dice_.chance(20));
  if (lost) {
    WorkerLease::Looked failed;
    failed.numbers.resize(look.numbers.size());
    failed.clock.code = Errc::unreachable;
    return at(now_ + (dice_.chance(500) ? millisecond : second), [answer, failed] { answer(failed); });
  }
  at(now_ + delay(), [this, answer, look, sent] {
    WorkerLease::Looked looked;
    if (look.pool) looked.pool.value = store_.read(Store::of({}));
    for (const std::uint32_t number : look.numbers) {
      looked.numbers.push_back({.value = store_.read(Store::of(number))});
    }
    const Micros back = delay();
    if (look.clock && options_.store_has_clock) {
      const microseconds half((now_ + back - sent) / 2);
      looked.clock.value = StoreTime{std::chrono::system_clock::time_point(birthday + microseconds(now_) + half), half};
    }
    at(now_ + back, [answer, looked] { answer(looked); });
  });
}

void World::send(Node& node, const WorkerLease::Write& write) {
  const std::uint64_t request = node.awaits = ++event_order_;
  if (write.number) {
    node.writing = {*write.number, ids::parse_worker_record(write.value).value().hwm};
  }
  Node* const to = &node;
  const std::string me = write.number ? ids::parse_worker_record(write.value)->holder : std::string();
  const auto answer = [this, to, request, life = node.life, me](Reply<Written> reply) {
    if (to->life != life) return;
    if (options_.mistake == WorldOptions::Mistake::adopts_what_names_me && reply.ok() && !me.empty()) {
      const auto record = ids::parse_worker_record(reply.value.now.value);
      if (record && record->holder == me) reply.value.written = true;
    }
    if (options_.mistake == WorldOptions::Mistake::believes_in_doubt && reply.code == Errc::in_doubt && !me.empty()) {
      reply = {};
      reply.value.written = true;
    }
    to->inbox.emplace_back(request, [this, reply](Node& heard) {
      heard.act(options_.clones,
                [reply, now = wall(heard), boot = boot()](Issuer& issuer) { issuer.wrote(reply, now, boot); });
    });
  };
  const auto execute = [this, write] {
    return store_.write_if(Store::of(write.number), write.expected, write.value, now_);
  };
  const auto give_up = [&] { at(now_ + second, [answer] { answer({.code = Errc::in_doubt, .detail = {}}); }); };

  if (!reaches_store(node)) {
    if (dice_.chance(500)) {
      return at(now_ + millisecond, [answer] { answer({.code = Errc::unreachable, .detail = {}}); });
    }
    // It stands in a queue somewhere, and may be executed when the store is up again.
    if (dice_.chance(500)) at(std::max(outage_until_, node.cut_off_until) + delay(), execute);
    return give_up();
  }
  const std::uint32_t fate = options_.messages_suffer ? dice_.below(1000) : 1000;
  if (fate < 20) return give_up();  // the request is lost
  if (fate < 50) {                  // the answer is lost
    at(now_ + delay(), execute);
    return give_up();
  }
  if (fate < 70) {  // the request is late
    at(now_ + second + dice_.below(4000) * millisecond, execute);
    return give_up();
  }
  if (fate < 90) {  // the request is repeated on the way, and only the second answer comes back
    at(now_ + delay(), execute);
    return at(now_ + 3 * millisecond + delay(), [this, answer, execute] {
      at(now_ + delay(), [answer, written = execute()] { answer({.value = written}); });
    });
  }
  at(now_ + delay(), [this, answer, execute, fate] {
    const Reply<Written> reply = {.value = execute()};
    at(now_ + delay(), [answer, reply] { answer(reply); });
    if (fate < 120) at(now_ + 10 * millisecond, [answer, reply] { answer(reply); });  // the answer is repeated
  });
}

// --- ids ------------------------------------------------------------------------------------------------------------

/// Tells the audit what the node may issue now.
void World::write_down(Node& node) {
  const auto bits = static_cast<unsigned>(options_.layout.fields().sequence_bits);
  const ids::Grant* const grant = node.issuer->grant();
  if (grant == nullptr) return;
  if (grant->next() >= ids::Grant::closed) {
    const std::uint64_t whole = (std::uint64_t{1} << bits) - 1;
    if (grant->serial() == node.serial)
      audit_.ended(node.grant, static_cast<std::int64_t>((node.next + whole) >> bits));
    node.serial = 0;
    return;
  }
  node.next = grant->next();
  const auto limit = static_cast<std::int64_t>(grant->limit() >> bits);
  if (grant->serial() != node.serial) {
    node.serial = grant->serial();
    node.grant = audit_.granted(grant->worker(), static_cast<std::int64_t>(grant->next() >> bits), limit);
  } else {
    audit_.extended(node.grant, limit);
  }
}

void World::traffic(Node& node) {
  const std::uint32_t what = dice_.below(1000);
  if (what < 300) {
    issue(node, 1);
  } else if (what < 303) {
    issue(node, 1 + dice_.below(std::min<std::uint32_t>(64, options_.layout.sequences())));
  } else if (what < 304) {
    for (int i = 0; i < 300 && issue(node, 1); ++i) {
    }
  }
}

bool World::issue(Node& node, std::uint32_t count) {
  ids::Grant* const grant = node.issuer->grant();
  if (grant == nullptr) return false;
  const auto bits = static_cast<unsigned>(options_.layout.fields().sequence_bits);
  ids::Issued issued;
  const auto take = [&issued, this, count, now = wall(node)](Issuer& issuer) {
    SimClock clock{now, options_.layout};
    issued = ids::issue(*issuer.grant(), options_.layout, clock, count);
  };
  take(*node.issuer);
  if (options_.clones) {
    node.log.push_back([this, count, now = wall(node)](Issuer& issuer) {
      SimClock clock{now, options_.layout};
      ids::issue(*issuer.grant(), options_.layout, clock, count);
    });
  }
  if (issued.outcome == ids::Outcome::clock_is_back) node.rests_until = 0;
  if (issued.outcome != ids::Outcome::issued) return false;
  node.next = issued.position + count;
  // While the clock is set back, ids may be ahead of it, and of what it has shown before.
  const std::int64_t most_ahead = options_.clocks_are_set ? std::chrono::seconds(2) / options_.layout.tick() : 0;
  for (std::uint64_t position = issued.position; position < issued.position + count; ++position) {
    const auto tick = static_cast<std::int64_t>(position >> bits);
    const auto sequence = static_cast<std::uint32_t>(position & ((std::uint64_t{1} << bits) - 1));
    const std::uint64_t id = options_.layout.compose(tick, grant->worker(), sequence);
    audit_.issued(node.grant, id);
    if (node.last_id && id <= *node.last_id) ++outcomes_.order_breaks;
    node.last_id = id;
    if (tick > node.latest_tick + most_ahead) ++outcomes_.ahead_of_clock;
  }
  return true;
}

}  // namespace holdfast::ids_sim
