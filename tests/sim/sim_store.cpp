#include "sim/sim_store.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace holdfast::sim {

using Standing = Message::Standing;

void SimStore::start(const Plan& plan, const memory::StoreRules& rules) {
  memory::StoreRules these = rules;
  these.number_on_joining = plan.waiting == Waiting::watched;
  store_ = std::make_unique<memory::StoreModel>(these);
  clock_ = Clock(std::chrono::seconds(100), plan.store_ppm);
  waiting_ = plan.waiting;
  lazy_ = plan.lazy_expiry;
  session_leases_ = plan.session_leases;
  down_ = false;
  life_ = 0;
  poll_interval_ = static_cast<std::uint32_t>(plan.poll_interval.count());
  seed_ = plan.seed;
  thrown_ = 0;
  next_expiry_ = never;
  claims_.clear();
}

const LockName& SimStore::name(std::uint8_t index) {
  static const std::array<LockName, 6> names = {"a", "b", "c", "d", "e", "f"};
  return names[index];
}

std::uint32_t SimStore::index_of(const spi::ClaimId& id) const {
  for (std::size_t i = claims_.size(); i-- > 0;) {  // most are young
    if (claims_[i].id == id) return static_cast<std::uint32_t>(i);
  }
  return Message::no_claim;
}

std::uint32_t SimStore::introduce(const spi::ClaimId& id, std::uint8_t client, std::uint32_t life, std::uint8_t name) {
  if (const std::uint32_t known = index_of(id); known != Message::no_claim) return known;
  claims_.push_back({id, life, client, name, Standing::absent, 0, 0, LockKind::lock});
  return static_cast<std::uint32_t>(claims_.size() - 1);
}

spi::ClaimRef SimStore::ref_to(std::uint32_t claim, std::uint32_t lease) const {
  const Known& known = claims_[claim];
  return {name(known.name), known.kind, known.id, milliseconds(lease)};
}

bool SimStore::execute(Message& message) {
  if (down_ || message.store_life != life_) return false;
  if (store_->next_expiry() <= now()) expire();  // apart, so that the history has it in order
  switch (message.kind) {
    case Request::acquire: acquire(message); break;
    case Request::renew: renew(message); break;
    case Request::release: release(message); break;
    case Request::downgrade: downgrade(message); break;
  }
  if (session_leases_ && (message.kind == Request::acquire || message.kind == Request::renew)) renew_others(message);
  tell_about_changes();
  return true;
}

void SimStore::acquire(Message& message) {
  Message::Item& item = message.items[0];
  spi::ClaimRequest request{.name = name(item.name),
                            .id = claims_[item.claim].id,
                            .mode = {message.mode, message.permits, message.limit},
                            .lease = milliseconds(item.lease),
                            .lock_delay = milliseconds(message.lock_delay)};
  if (message.refuses_to_wait) request.when_busy = spi::WhenBusy::refuse;
  if (message.replaces != Message::no_claim) request.replaces = claims_[message.replaces].id;
  claims_[item.claim].kind = request.kind();
  const auto answer = store_->acquire(request, message.life, now());
  assert(answer.ok());
  if (request.replaces) {
    claims_[message.replaces].standing = Standing::absent;
    timeline_.record(
        {.subject = message.replaces, .what = What::replaced, .client = message.client, .name = item.name});
    tell_about_changes();  // whoever has moved up has done so before this one joined
  }
  claims_[item.claim].lease = item.lease;
  answered(message, item, answer.value());
}

void SimStore::renew(Message& message) {
  for (std::size_t i = 0; i < message.count; ++i) {
    Message::Item& item = message.items[i];
    answered(message, item, store_->renew(ref_to(item.claim, item.lease), now()));
  }
}

/// Where a lease belongs to a session, whatever the client keeps alive keeps all its claims alive.
void SimStore::renew_others(const Message& message) {
  for (std::uint32_t at = 0; at < claims_.size(); ++at) {
    Known& claim = claims_[at];
    if (claim.life != message.life || claim.standing == Standing::absent) continue;
    claim.standing = store_->renew(ref_to(at, claim.lease), now()).standing;
    if (claim.standing == Standing::absent) continue;
    timeline_.record(
        {.subject = at, .length = claim.lease, .what = What::kept, .client = claim.client, .name = claim.name});
  }
}

void SimStore::release(Message& message) {
  Message::Item& item = message.items[0];
  const bool was_there = store_->release(ref_to(item.claim, item.lease), now());
  // For a release, `granted` stands for: it was there.
  answered(message, item, {.standing = was_there ? Standing::granted : Standing::absent});
  claims_[item.claim].standing = Standing::absent;
  if (was_there && waiting_ == Waiting::watched) hint_somebody(item.name);
}

void SimStore::downgrade(Message& message) {
  Message::Item& item = message.items[0];
  const auto answer = store_->downgrade(ref_to(item.claim, 0), now());
  assert(answer.ok());
  answered(message, item, answer.value());
}

void SimStore::answered(const Message& message, Message::Item& item, const spi::ClaimAnswer& answer) {
  timeline_.record({.value = answer.number,
                    .subject = item.claim,
                    .length = item.lease,
                    .what = What::executed,
                    .client = message.client,
                    .name = item.name,
                    .detail = static_cast<std::uint8_t>(message.kind),
                    .standing = static_cast<std::uint8_t>(answer.standing)});
  item.standing = claims_[item.claim].standing = answer.standing;
  item.number = claims_[item.claim].number = answer.number;
  item.lease = static_cast<std::uint32_t>(answer.lease.count());
  item.place = answer.place;
  item.check_after =
      waiting_ == Waiting::polled ? poll_interval_ : static_cast<std::uint32_t>(answer.check_after.count());
}

void SimStore::expire() {
  store_->advance(now());
  tell_about_changes();
}

void SimStore::stop() {
  down_ = true;
  ++life_;
  next_expiry_ = never;
}

void SimStore::restart() {
  down_ = false;
  expire();
}

void SimStore::tell_about_changes() {
  next_expiry_ = lazy_ || down_ ? never : clock_.when(store_->next_expiry());
  for (const memory::Event& event : store_->take_events()) {
    const std::uint32_t at = index_of(event.id);
    Known& claim = claims_[at];
    claim.standing = Standing::granted;
    timeline_.record({.value = event.answer.number,
                      .subject = at,
                      .what = What::store_granted,
                      .client = claim.client,
                      .name = claim.name});
    claim.number = event.answer.number;
    if (waiting_ != Waiting::polled) push(at, event.answer.lease);
  }
}

/// Those who watch a claim ahead of them look when it goes, although others may still stand before them.
void SimStore::hint_somebody(std::uint8_t name) {
  Dice dice(seed_, 0xFFFF'FFFF, thrown_++);
  if (dice.chance(500)) return;
  for (std::size_t i = claims_.size(); i-- > 0;) {
    const Known& claim = claims_[i];
    if (claim.name != name || claim.standing != Standing::waiting || dice.chance(500)) continue;
    return push(static_cast<std::uint32_t>(i), {});
  }
}

void SimStore::push(std::uint32_t about, milliseconds lease) {
  const Known& claim = claims_[about];
  const std::uint32_t at = network_.make();
  Message& message = network_[at];
  message.life = claim.life;
  message.client = claim.client;
  message.hint = waiting_ == Waiting::watched;
  message.count = 1;
  message.items[0] = {.number = claim.number,
                      .claim = about,
                      .lease = static_cast<std::uint32_t>(lease.count()),
                      .name = claim.name,
                      .standing = Standing::granted};
  network_.send_push(at);
}

bool SimStore::empty_in_the_end(Duration longest_lease) {
  store_->advance(now() + longest_lease + longest_lease / 50);
  return store_->empty();
}

}  // namespace holdfast::sim
