#include "sim/node.hpp"

#include <algorithm>
#include <memory>

namespace holdfast::sim {

namespace {

constexpr milliseconds close_timeout{500};

core::EngineOptions options_for(const Plan& plan, std::uint32_t life, const Node::Settings& settings) {
  Dice dice(plan.seed, life, 0xE4613E);
  core::EngineOptions options;
  options.connect_timeout = plan.connect_timeout;
  options.local_turns = plan.local_turns;
  options.seed = {dice.next(), dice.next(), dice.next(), dice.next()};
  if (settings.unbounded_hand_over) {
    options.local_turns = 255;
    options.max_local_time = std::chrono::hours(1);
    options.max_local_share = 1;
  }
  return options;
}

std::uint8_t at_most_a_byte(std::size_t count) { return static_cast<std::uint8_t>(std::min<std::size_t>(count, 255)); }

}  // namespace

Node::Node(const Place& place, const Plan& plan, std::uint8_t index, const Settings& settings)
    : place_(place), plan_(plan), index_(index), settings_(settings) {
  for (std::uint32_t i = 0; i < plan.turns.size(); ++i) {
    const Turn& turn = plan.turns[i];
    if (turn.client != index) continue;
    if (turns_.size() <= turn.thread) turns_.resize(turn.thread + 1U);
    turns_[turn.thread].push_back(i);
  }
  next_turns_.resize(turns_.size());
}

void Node::record(What what, std::uint64_t value) {
  place_.timeline.record({.value = value, .what = what, .client = index_});
}

void Node::open() {
  const std::uint32_t number = ++place_.lives;
  const Clock clock(std::chrono::seconds(1 + number), plan_.client_ppm[index_]);
  record(What::opened, number);
  life_.emplace(place_.timeline, clock, static_cast<core::UserSide&>(*this), options_for(plan_, number, settings_));
  life_->number = number;
  auto backend = std::make_unique<SimBackend>(
      SimBackend::Place{place_.timeline, place_.network, place_.store, life_->loop, life_->engine, index_, number},
      settings_.mistakes);
  life_->backend = backend.get();
  life_->engine.attach(std::move(backend));
  if (plan_.keeps_mutexes) {
    for (std::uint8_t name = 0; name < plan_.names; ++name) cell(name).keep();
  }
  for (std::size_t thread = 0; thread < turns_.size(); ++thread) {
    life_->actors.emplace_back(Actor::Place{place_.timeline, place_.network, place_.store, life_->loop, life_->engine,
                                            plan_, turns_[thread], next_turns_[thread], number});
    life_->actors.back().start();
  }
  settle();
}

core::Cell& Node::cell(std::uint8_t name) {
  const LockKind kind = plan_.limits[name] > 0 ? LockKind::semaphore : LockKind::lock;
  return life_->engine.cell(SimStore::name(name), kind);
}

void Node::run_due() {
  life_->loop.run_due();
  settle();
}

void Node::deliver(std::uint32_t message) {
  if (life_ && paused_) return delayed_.push_back(message);
  if (life_) read(message);
  place_.network.forget(message);
}

void Node::read(std::uint32_t at) {
  const Message message = place_.network[at];  // sending may move the others
  if (message.life != life_->number) return;
  const bool pushed = message.request == 0;
  if (pushed) {
    life_->backend->push_arrived(message);
  } else {
    life_->backend->reply_arrived(message);
  }
  settle();
}

void Node::settle() {
  life_->loop.drain();
  for (Actor& actor : life_->actors) actor.observe();
  if (life_->closed) finish_closing();
}

void Node::pause() {
  if (!life_ || paused_) return;
  record(What::paused);
  paused_ = true;
}

void Node::resume() {
  if (!life_ || !paused_) return;
  record(What::resumed);
  paused_ = false;
  for (Actor& actor : life_->actors) actor.sample();
  // What a process sees first after a stop, its timers or its sockets, is chance.
  Dice dice(plan_.seed, life_->number, static_cast<std::uint64_t>(place_.timeline.now.time_since_epoch().count()));
  if (dice.chance(500)) run_due();
  std::vector<std::uint32_t> delayed;
  delayed.swap(delayed_);
  for (const std::uint32_t message : delayed) deliver(message);
  if (life_) run_due();
}

void Node::crash() {
  if (!life_) return;
  record(What::crashed);
  end_life();
}

void Node::close() {
  if (!life_ || paused_ || life_->engine.closing()) return;
  record(What::closing);
  life_->engine.close(close_timeout, [this] { life_->closed = true; });
  settle();
}

void Node::reopen() {
  if (life_ && !life_->engine.closing()) return;  // it was opened by the end of another fault
  reopens_ = life_.has_value();
  if (!life_) open();
}

void Node::finish_closing() {
  for (Actor& actor : life_->actors) actor.stop();
  if (plan_.keeps_mutexes) {
    for (std::uint8_t name = 0; name < plan_.names; ++name) cell(name).let_go();
  }
  life_->loop.drain();
  const Leftover left{.cells = at_most_a_byte(life_->engine.cells()),
                      .timers = at_most_a_byte(life_->loop.armed_timers()),
                      .expectations = static_cast<std::uint8_t>(life_->loop.expectations()),
                      .requests = at_most_a_byte(life_->backend->unanswered())};
  record(What::closed, left.packed());
  const bool reopens = reopens_;
  end_life();
  if (reopens) open();
}

void Node::end_life() {
  const core::Engine::Counters& counters = life_->engine.counters();
  counters_.grants += counters.grants;
  counters_.local_turns += counters.local_turns;
  counters_.renewals += counters.renewals;
  counters_.failed_renewals += counters.failed_renewals;
  counters_.lost += counters.lost;
  for (const std::uint32_t message : delayed_) place_.network.forget(message);
  delayed_.clear();
  life_.reset();
  paused_ = false;
  reopens_ = false;
}

}  // namespace holdfast::sim
