#include "sim/network.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr microseconds shortest_delay{50};
constexpr microseconds usual_delay{400};
constexpr microseconds slow_delay{12'000};
constexpr milliseconds shortest_lateness{8};
constexpr milliseconds longest_lateness{250};

}  // namespace

void Network::start(const Plan& plan) {
  seed_ = plan.seed;
  strict_order_ = plan.session_leases;
  links_.assign(plan.clients, {});
  messages_.clear();
  free_.clear();
  counters_ = {};
}

void Network::begin(const Fault& fault) { change(fault, fault.per_mille); }
void Network::end(const Fault& fault) { change(fault, 0U - fault.per_mille); }

/// Faults may overlap: what they do adds up.
void Network::change(const Fault& fault, std::uint32_t per_mille) {
  const auto kind = static_cast<std::size_t>(fault.kind);
  for (std::size_t client = 0; client < links_.size(); ++client) {
    if (fault.client == Fault::everybody || fault.client == client) links_[client].troubles[kind] += per_mille;
  }
}

std::uint32_t Network::make() {
  if (free_.empty()) {
    messages_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t message = free_.back();
  free_.pop_back();
  messages_[message] = {};
  return message;
}

std::uint32_t Network::copy(std::uint32_t message) {
  const std::uint32_t made = make();
  messages_[made] = messages_[message];
  return made;
}

Dice Network::dice(const Message& message) { return {seed_, message.life, links_[message.client].thrown++}; }

std::uint32_t Network::trouble(const Message& message, FaultKind kind) const {
  return links_[message.client].troubles[static_cast<std::size_t>(kind)];
}

Duration Network::delay(const Message& message, Dice& dice) const {
  if (trouble(message, FaultKind::slow_link) > 0) return dice.between(microseconds(1000), slow_delay);
  return dice.between(shortest_delay, dice.chance(50) ? longest_delay : usual_delay);
}

Network::Fate Network::send_request(std::uint32_t at) {
  Message& message = messages_[at];
  message.sent_at = timeline_.now;
  ++counters_.messages;
  Dice dice = this->dice(message);
  const bool cut = dice.chance(trouble(message, FaultKind::cut_link));
  const bool down = trouble(message, FaultKind::stop_store) > 0;
  if ((cut || down) && dice.chance(500)) {
    ++counters_.refused;
    forget(at);
    return Fate::refused;
  }
  if (cut || down || dice.chance(trouble(message, FaultKind::lose_requests))) {
    lose(at);
    return Fate::under_way;
  }
  const Moment usual = timeline_.now + delay(message, dice);
  if (dice.chance(trouble(message, FaultKind::delay_messages))) {
    if (strict_order_) {
      lose(at);
      return Fate::under_way;
    }
    ++counters_.late;
    timeline_.queue.add(usual + dice.between(shortest_lateness, longest_lateness), EventQueue::Kind::request, at);
    return Fate::under_way;
  }
  Moment& last = links_[message.client].last_request;
  last = std::max(last, usual);
  timeline_.queue.add(last, EventQueue::Kind::request, at);
  if (!strict_order_ && dice.chance(trouble(message, FaultKind::repeat_requests))) {
    ++counters_.repeated;
    const Moment again = last + dice.between(milliseconds(0), longest_lateness);
    timeline_.queue.add(again, EventQueue::Kind::request, copy(at));
  }
  return Fate::under_way;
}

void Network::send_reply(std::uint32_t at) {
  const Message& message = messages_[at];
  ++counters_.messages;
  Dice dice = this->dice(message);
  if (dice.chance(trouble(message, FaultKind::cut_link)) || dice.chance(trouble(message, FaultKind::lose_replies))) {
    return lose(at);
  }
  Moment arrives = timeline_.now + delay(message, dice);
  if (dice.chance(trouble(message, FaultKind::delay_messages))) {
    ++counters_.late;
    arrives += dice.between(microseconds(0), microseconds(longest_lateness));
  } else {
    Moment& last = links_[message.client].last_reply;
    arrives = last = std::max(last, arrives);
  }
  timeline_.queue.add(arrives, EventQueue::Kind::reply, at);
}

void Network::send_push(std::uint32_t at) {
  const Message& message = messages_[at];
  ++counters_.messages;
  Dice dice = this->dice(message);
  const bool disturbed = dice.chance(trouble(message, FaultKind::disturb_pushes));
  const std::uint32_t how = dice.below(3);
  if (dice.chance(trouble(message, FaultKind::cut_link)) || trouble(message, FaultKind::stop_store) > 0 ||
      (disturbed && how == 0)) {
    return lose(at);
  }
  Moment arrives = timeline_.now + delay(message, dice);
  if (disturbed && how == 1) {
    ++counters_.repeated;
    const Moment again = arrives + dice.between(milliseconds(0), longest_lateness);
    timeline_.queue.add(again, EventQueue::Kind::push, copy(at));
  } else if (disturbed) {
    ++counters_.late;
    arrives += dice.between(milliseconds(0), longest_lateness);
  }
  timeline_.queue.add(arrives, EventQueue::Kind::push, at);
}

/// The resource is somewhere else: only its slowness matters.
void Network::send_write(std::uint32_t at) {
  Message& message = messages_[at];
  message.sent_at = timeline_.now;
  Dice dice = this->dice(message);
  Moment arrives = timeline_.now + delay(message, dice);
  if (dice.chance(trouble(message, FaultKind::delay_messages))) {
    arrives += dice.between(shortest_lateness, longest_lateness);
  }
  timeline_.queue.add(arrives, EventQueue::Kind::write, at);
}

void Network::lose(std::uint32_t at) {
  ++counters_.lost;
  const Message& message = messages_[at];
  timeline_.record({.subject = message.items[0].claim,
                    .what = What::unheard,
                    .client = message.client,
                    .name = message.items[0].name,
                    .detail = static_cast<std::uint8_t>(message.kind)});
  forget(at);
}

}  // namespace holdfast::sim
