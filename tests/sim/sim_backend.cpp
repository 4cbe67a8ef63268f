#include "sim/sim_backend.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace holdfast::sim {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::Failure;

namespace {

/// How soon a client knows that a connection was refused.
constexpr microseconds refusal_takes{200};

}  // namespace

StoreTraits SimBackend::traits() const {
  using Scope = StoreTraits::LeaseScope;
  return {.store = "simulation",
          .lease_scope = place_.store.session_leases() ? Scope::session : Scope::claim,
          .fifo = true,
          .lock_delay = !place_.store.session_leases(),
          .durable_tokens = true};
}

void SimBackend::acquire(const spi::ClaimRequest& request, spi::Done<ClaimAnswer> done) {
  const std::uint8_t name = SimStore::index_of(request.name);
  place_.store.introduce(request.id, place_.client, place_.life, name);
  const std::uint32_t at = new_message(Request::acquire);
  add_item(at, {request.name, request.kind(), request.id, request.lease});
  Message& message = place_.network[at];
  message.refuses_to_wait = request.when_busy == spi::WhenBusy::refuse;
  if (request.replaces) message.replaces = place_.store.index_of(*request.replaces);
  message.mode = request.mode.kind;
  message.permits = static_cast<std::uint8_t>(request.mode.permits);
  message.limit = static_cast<std::uint8_t>(request.mode.limit);
  message.lock_delay = static_cast<std::uint8_t>(request.lock_delay.count());
  send(at, request.lease, std::move(done));
}

void SimBackend::release(const ClaimRef& claim, spi::Done<bool> done) {
  const std::uint32_t at = new_message(Request::release);
  add_item(at, claim);
  send(at, claim.lease, std::move(done));
}

void SimBackend::renew(std::span<const ClaimRef> claims, spi::Done<std::vector<ClaimAnswer>> done) {
  const std::uint32_t at = new_message(Request::renew);
  milliseconds shortest = milliseconds::max();
  for (const ClaimRef& claim : claims) {
    add_item(at, claim);
    shortest = std::min(shortest, claim.lease);
  }
  send(at, shortest, std::move(done));
}

void SimBackend::downgrade(const ClaimRef& claim, spi::Done<ClaimAnswer> done) {
  const std::uint32_t at = new_message(Request::downgrade);
  add_item(at, claim);
  send(at, claim.lease, std::move(done));
}

std::uint32_t SimBackend::new_message(Request kind) {
  const std::uint32_t at = place_.network.make();
  Message& message = place_.network[at];
  message.kind = kind;
  message.life = place_.life;
  message.client = place_.client;
  message.store_life = place_.store.life();
  message.request = ++requests_;
  return at;
}

void SimBackend::add_item(std::uint32_t at, const ClaimRef& claim) {
  Message& message = place_.network[at];
  assert(message.count < Message::most_items);
  Message::Item& item = message.items[message.count++];
  item.claim = place_.store.index_of(claim.id);
  item.lease = static_cast<std::uint32_t>(claim.lease.count());
  item.name = SimStore::index_of(claim.name);
}

void SimBackend::send(std::uint32_t at, milliseconds lease, AnyDone done) {
  const Message& message = place_.network[at];
  assert(!closed_);
  for (std::size_t i = 0; i < message.count; ++i) {
    const Message::Item& item = message.items[i];
    const std::uint64_t replaced = message.replaces == Message::no_claim ? 0 : message.replaces + 1;
    place_.timeline.record({.value = replaced,
                            .subject = item.claim,
                            .length = item.lease,
                            .what = What::sent,
                            .client = place_.client,
                            .name = item.name,
                            .detail = static_cast<std::uint8_t>(message.kind),
                            .mode = static_cast<std::uint8_t>(message.mode),
                            .permits = message.permits,
                            .lock_delay = message.lock_delay});
  }
  const Instant now = place_.loop.now();
  Pending& pending = pending_.emplace_back(Pending{
      requests_, Errc::in_doubt, now, now + spi::patience(lease), message.kind, message.count, {}, std::move(done)});
  for (std::size_t i = 0; i < message.count; ++i) pending.claims[i] = message.items[i].claim;
  if (place_.network.send_request(at) == Network::Fate::refused) {
    pending.failure = Errc::unreachable;
    pending.fails_at = std::min(pending.fails_at, now + refusal_takes);
  }
  if (!timer_.armed() || pending.fails_at < timer_.due()) timer_.set(pending.fails_at);
}

ClaimAnswer SimBackend::answer_of(const Message::Item& item, Instant sent_at) const {
  ClaimAnswer answer{.standing = item.standing,
                     .number = item.number,
                     .lease = milliseconds(item.lease),
                     .place = item.place,
                     .check_after = milliseconds(item.check_after)};
  if (item.standing != Message::Standing::absent) {
    answer.armed_at = mistakes_.counts_from_reply ? place_.loop.now() : sent_at;
  }
  return answer;
}

void SimBackend::reply_arrived(const Message& message) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& pending) { return pending.request == message.request; });
  if (found == pending_.end()) return;  // late, or a repetition
  Pending pending = std::move(*found);
  pending_.erase(found);
  set_timer();
  for (std::size_t i = 0; i < message.count; ++i) {
    note(What::heard, message.items[i], message.kind, static_cast<std::uint8_t>(message.items[i].standing));
  }
  switch (message.kind) {
    case Request::acquire:
    case Request::downgrade:
      return std::get<spi::Done<ClaimAnswer>>(pending.done)(answer_of(message.items[0], pending.sent_at));
    case Request::release:
      return std::get<spi::Done<bool>>(pending.done)(message.items[0].standing != Message::Standing::absent);
    case Request::renew: {
      std::vector<ClaimAnswer> answers;
      answers.reserve(message.count);
      for (std::size_t i = 0; i < message.count; ++i) answers.push_back(answer_of(message.items[i], pending.sent_at));
      return std::get<spi::Done<std::vector<ClaimAnswer>>>(pending.done)(std::move(answers));
    }
  }
}

void SimBackend::push_arrived(const Message& message) {
  if (closed_) return;
  const Message::Item& item = message.items[0];
  const LockName& name = SimStore::name(item.name);
  const spi::ClaimId id = place_.store.id_of(item.claim);
  const LockKind kind = place_.store.kind_of(item.claim);
  note(message.hint ? What::hinted : What::pushed, item, message.kind, 0);
  if (message.hint && !mistakes_.trusts_hints) return place_.events.check(name, kind, id);
  ClaimAnswer answer = answer_of(item, Instant::min());
  answer.standing = Message::Standing::granted;
  answer.armed_at = Instant::min();
  place_.events.granted(name, kind, id, answer);
}

void SimBackend::give_up() {
  const Instant now = place_.loop.now();
  for (std::size_t i = 0; i < pending_.size();) {
    if (pending_[i].fails_at > now) {
      ++i;
      continue;
    }
    Pending pending = std::move(pending_[i]);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    fail(pending, pending.failure);
    i = 0;  // whoever was told may have sent something
  }
  set_timer();
}

void SimBackend::fail(Pending& pending, Errc code) {
  for (std::size_t i = 0; i < pending.count; ++i) {
    const Message::Item about{.claim = pending.claims[i], .name = place_.store.name_of(pending.claims[i])};
    note(What::failed, about, pending.kind, static_cast<std::uint8_t>(code));
  }
  std::visit([&](auto& done) { done(Failure{code, "simulated"}); }, pending.done);
}

void SimBackend::set_timer() {
  Instant first = Instant::max();
  for (const Pending& pending : pending_) first = std::min(first, pending.fails_at);
  timer_.set(first);
  if (first == Instant::max()) timer_.cancel();
}

void SimBackend::close(spi::Done<> done) {
  place_.loop.defer([this, done = std::move(done)]() mutable {
    while (!pending_.empty()) {
      Pending pending = std::move(pending_.front());
      pending_.erase(pending_.begin());
      fail(pending, Errc::closed);
    }
    timer_.cancel();
    closed_ = true;
    done(spi::Nothing{});
  });
}

void SimBackend::note(What what, const Message::Item& item, Request kind, std::uint8_t standing) {
  place_.timeline.record({.value = item.number,
                          .subject = item.claim,
                          .length = item.lease,
                          .what = what,
                          .client = place_.client,
                          .name = item.name,
                          .detail = static_cast<std::uint8_t>(kind),
                          .standing = standing});
}

namespace {

template <class T>
void refuse(SimLoop& loop, spi::Done<T> done) {
  loop.defer([done = std::move(done)]() mutable { done(Failure{Errc::unsupported, "not simulated"}); });
}

}  // namespace

void SimBackend::read(const LockName& /*name*/, spi::Done<spi::Versioned> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::write_if(const LockName& /*name*/, std::uint64_t /*expected*/, std::string /*value*/,
                          spi::Done<WriteAnswer> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::add(const LockName& /*name*/, std::int64_t /*amount*/, spi::Done<std::int64_t> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::watch(const LockName& /*name*/, std::uint64_t /*seen*/, spi::Done<> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::show(const LockName& /*name*/, LockKind /*kind*/, spi::Done<std::optional<LockStatus>> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::list(std::string_view /*prefix*/, spi::Done<std::vector<LockStatus>> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::evict(const LockName& /*name*/, LockKind /*kind*/, std::uint64_t /*up_to*/,
                       spi::Done<std::size_t> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::ask_to_release(const LockName& /*name*/, LockKind /*kind*/, const ReleaseRequest& /*request*/,
                                spi::Done<std::size_t> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::resize(const LockName& /*name*/, std::uint32_t /*total*/, spi::Done<bool> done) {
  refuse(place_.loop, std::move(done));
}
void SimBackend::now(spi::Done<std::chrono::system_clock::time_point> done) { refuse(place_.loop, std::move(done)); }

}  // namespace holdfast::sim
