#include "sim/world.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

// No history comes near; one that does will never end.
constexpr std::uint64_t most_steps = 300'000;
constexpr std::chrono::minutes longest_history{5};

}  // namespace

const History& World::run(const Plan& plan, const Mistakes& mistakes) {
  set_up(plan, mistakes);
  run_until_quiet();
  for (Node& node : nodes_) node.close();
  run_until_quiet();

  milliseconds longest_lease = {};
  for (const Turn& turn : plan.turns) {
    longest_lease = std::max({longest_lease, turn.ttl + turn.lock_delay, turn.extends_by + turn.lock_delay});
  }
  const bool empty = store_.empty_in_the_end(longest_lease);
  timeline_.record({.value = empty ? 0U : 1U, .what = What::ended});
  return timeline_.history;
}

void World::set_up(const Plan& plan, const Mistakes& mistakes) {
  nodes_.clear();
  plan_ = &plan;
  timeline_.now = {};
  timeline_.queue.clear();
  timeline_.history.clear();
  timeline_.history.clients = plan.clients;
  timeline_.history.names = plan.names;
  timeline_.history.limits = plan.limits;
  timeline_.history.local_turns = plan.local_turns > 0;
  timeline_.history.longest_delay = Network::longest_delay;
  timeline_.history.poll_interval = plan.waiting == Waiting::polled ? plan.poll_interval : milliseconds::zero();
  timeline_.history.connect_timeout = plan.connect_timeout;
  network_.start(plan);
  store_.start(plan, mistakes.store);
  lives_ = 0;
  stopped_ = 0;
  steps_ = 0;
  accepted_tokens_.assign(plan.names, 0);
  for (std::uint8_t i = 0; i < plan.clients; ++i) {
    nodes_.emplace_back(Node::Place{timeline_, network_, store_, lives_}, plan, i, mistakes.clients);
  }
  for (Node& node : nodes_) node.open();
  for (std::uint32_t i = 0; i < plan.faults.size(); ++i) {
    timeline_.queue.add(Moment(plan.faults[i].at), EventQueue::Kind::fault_begins, i);
  }
}

void World::run_until_quiet() {
  while (step()) {
    if (++steps_ < most_steps && timeline_.now < Moment(longest_history)) continue;
    timeline_.record({.what = What::hung});
    timeline_.queue.clear();
    nodes_.clear();
    return;
  }
}

/// Does what comes next. At the same moment: the store, then messages and faults, then clients.
bool World::step() {
  Moment at = std::min(store_.next_expiry(), timeline_.queue.next());
  Node* who = nullptr;
  for (Node& node : nodes_) {
    if (node.next() >= at) continue;
    at = node.next();
    who = &node;
  }
  if (at == never) return false;
  timeline_.now = std::max(timeline_.now, at);  // after a pause, a client is late
  if (who != nullptr) {
    who->run_due();
  } else if (store_.next_expiry() <= at) {
    store_.expire();
  } else {
    dispatch(timeline_.queue.take());
  }
  return true;
}

void World::dispatch(const EventQueue::Entry& entry) {
  switch (entry.kind) {
    case EventQueue::Kind::request: return request_arrived(entry.subject);
    case EventQueue::Kind::reply:
    case EventQueue::Kind::push: return nodes_[network_[entry.subject].client].deliver(entry.subject);
    case EventQueue::Kind::write: return write_arrived(entry.subject);
    case EventQueue::Kind::fault_begins: return begin(entry.subject);
    case EventQueue::Kind::fault_ends: return end(entry.subject);
  }
}

void World::request_arrived(std::uint32_t at) {
  if (store_.execute(network_[at])) return network_.send_reply(at);
  network_.forget(at);
}

/// The fenced resource: it refuses a token that is smaller than the largest it has seen.
void World::write_arrived(std::uint32_t at) {
  const Message& message = network_[at];
  const Message::Item& write = message.items[0];
  std::uint64_t& largest = accepted_tokens_[write.name];
  const bool accepted = write.number >= largest;
  largest = std::max(largest, write.number);
  timeline_.record({.until = message.sent_at,
                    .value = write.number,
                    .subject = write.claim,
                    .what = What::wrote,
                    .client = message.client,
                    .name = write.name,
                    .detail = accepted});
  network_.forget(at);
}

void World::begin(std::uint32_t index) {
  const Fault& fault = plan_->faults[index];
  const Moment ends = timeline_.now + fault.length;
  timeline_.queue.add(ends, EventQueue::Kind::fault_ends, index);
  switch (fault.kind) {
    case FaultKind::pause: return nodes_[fault.client].pause();
    case FaultKind::crash: return nodes_[fault.client].crash();
    case FaultKind::close: return nodes_[fault.client].close();
    case FaultKind::stop_store:
      if (stopped_++ == 0) store_.stop();
      break;
    default: break;
  }
  timeline_.record(
      {.until = ends, .what = What::troubled, .client = fault.client, .detail = static_cast<std::uint8_t>(fault.kind)});
  network_.begin(fault);
}

void World::end(std::uint32_t index) {
  const Fault& fault = plan_->faults[index];
  switch (fault.kind) {
    case FaultKind::pause: return nodes_[fault.client].resume();
    case FaultKind::crash:
    case FaultKind::close: return nodes_[fault.client].reopen();
    case FaultKind::stop_store:
      if (--stopped_ == 0) store_.restart();
      break;
    default: break;
  }
  network_.end(fault);
}

void World::count(Statistics& statistics) const {
  Statistics these;
  these.count(timeline_.history);
  these.faults = plan_->faults.size();
  for (const Node& node : nodes_) {
    these.grants += node.counters().grants;
    these.local_turns += node.counters().local_turns;
    these.losses += node.counters().lost;
    these.renewals += node.counters().renewals;
    these.failed_renewals += node.counters().failed_renewals;
  }
  these.takeovers = store_.counters().takeovers;
  these.stale_releases = store_.counters().stale_releases;
  these.network = network_.counters();
  these.steps = steps_;
  these.simulated = timeline_.now.time_since_epoch();
  statistics += these;
}

}  // namespace holdfast::sim
