#include <algorithm>
#include <utility>

#include "backends/memory/store.hpp"

// How claims join lines, leave them and move up in them.

namespace holdfast::memory {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimId;
using spi::ClaimRequest;
using spi::milliseconds;

namespace {

// Enough for a client that locks and unlocks; a burst beyond it is given back to the allocator.
constexpr std::size_t max_vacant_lines = 64;
constexpr std::size_t max_spare_claims = 256;

// The first in line looks at so many holders, those that were armed longest ago, to say when one of them may end. With
// leases of one length they are the right ones; else a dead holder may be noticed only when somebody asks for anything.
constexpr int holders_to_look_at = 64;

}  // namespace

Claim* StoreModel::find(const LockName& name, LockKind kind, const ClaimId& id) {
  for (auto [at, end] = claims_.equal_range(id); at != end; ++at) {
    const LineKey& line = *at->second.line->key;
    if (line.kind == kind && line.name == name && !at->second.ghost) return &at->second;
  }
  return nullptr;
}

Line* StoreModel::find_line(const LockName& name, LockKind kind) {
  const auto found = lines_.find(LineKeyView{name, kind});
  return found == lines_.end() ? nullptr : &found->second;
}

Line& StoreModel::line_for(const LockName& name, LockKind kind) {
  if (Line* line = find_line(name, kind)) return *line;
  auto at = lines_.end();
  if (vacant_.size() == max_vacant_lines) {
    auto node = lines_.extract(*vacant_.front()->key);
    vacant_.front() = vacant_.back();
    vacant_.front()->vacant_index = 0;
    vacant_.pop_back();
    node.key().name = name;
    node.key().kind = kind;
    node.mapped() = Line{};
    at = lines_.insert(std::move(node)).position;
  } else {
    at = lines_.try_emplace(LineKey{name, kind}).first;
  }
  at->second.key = &at->first;
  return at->second;
}

Claim& StoreModel::join(Line& line, const ClaimRequest& request, ClientNumber client, Instant now) {
  auto at = claims_.end();
  if (spare_claims_.empty()) {
    at = claims_.emplace(request.id, Claim{});
  } else {
    auto node = std::move(spare_claims_.back());
    spare_claims_.pop_back();
    node.key() = request.id;
    at = claims_.insert(std::move(node));
  }
  Claim& claim = at->second;
  claim.id = request.id;
  claim.line = &line;
  claim.expires = base::end_of(request.lease, now);
  claim.lease = request.lease;
  claim.since = now;
  claim.number = rules_.number_on_joining ? next_number(line) : 0;
  claim.identity = request.client;
  if (!request.reason.empty()) claim.with_extras().reason = request.reason;
  if (request.lock_delay > milliseconds::zero() && !rules_.forgets_lock_delay)
    claim.with_extras().lock_delay = request.lock_delay;
  claim.units = Line::units_of(request.mode);
  claim.ordinal = line.waiting.empty() ? 0 : line.waiting.back()->ordinal + 1;
  claim.client = client;
  claim.mode = request.mode.kind;
  claim.granted = false;
  claim.ghost = false;
  if (line.vacant_index != Line::not_vacant) {
    vacant_[line.vacant_index] = vacant_.back();
    vacant_[line.vacant_index]->vacant_index = line.vacant_index;
    vacant_.pop_back();
    line.vacant_index = Line::not_vacant;
  }
  line.waiting.push_back(claim);
  expiries_.push(claim);
  return claim;
}

void StoreModel::withdraw(Claim& claim, Instant now) {
  Line& line = *claim.line;
  remove(claim);
  settle(line, now);
}

void StoreModel::remove(Claim& claim) {
  Line& line = *claim.line;
  if (claim.granted) {
    line.granted.erase(claim);
    line.used -= rules_.expiry_frees_twice ? std::min(line.used, claim.units) : claim.units;
    --line.granted_count;
  } else {
    if (claim.previous != nullptr && claim.next != nullptr) line.ordinals_stale = true;
    line.waiting.erase(claim);
  }
  expiries_.erase(claim);
  auto [at, end] = claims_.equal_range(claim.id);
  while (&at->second != &claim) ++at;
  if (spare_claims_.size() == max_spare_claims) {
    claims_.erase(at);
    return;
  }
  claim.identity.reset();
  claim.extras.reset();
  spare_claims_.push_back(claims_.extract(at));
}

void StoreModel::settle(Line& line, Instant now) {
  promote(line, now, nullptr);
  if (line.vacant()) retire(line);
}

bool StoreModel::fits(const Line& line, std::uint32_t units) const {
  return line.fits(units) || (rules_.readers_ignore_writers && units == 1 && line.limit == Line::everything);
}

void StoreModel::promote(Line& line, Instant now, const Claim* requester) {
  // Strictly in order: one that does not fit blocks those behind it, or it could wait for ever.
  while (!line.waiting.empty() && fits(line, line.waiting.front()->units)) grant(*line.waiting.front(), now, requester);
  if (rules_.readers_overtake && requester != nullptr && line.waiting.back() == requester &&
      requester->mode == ClaimMode::shared && fits(line, requester->units)) {
    grant(*line.waiting.back(), now, requester);
  }
}

void StoreModel::grant(Claim& claim, Instant now, const Claim* requester) {
  Line& line = *claim.line;
  line.waiting.erase(claim);
  line.granted.push_back(claim);
  line.used += claim.units;
  ++line.granted_count;
  claim.granted = true;
  claim.since = now;
  if (!rules_.number_on_joining) claim.number = next_number(line);
  if (std::exchange(line.expired_number, 0) != 0) ++counters_.takeovers;
  ++counters_.grants;
  if (&claim == requester) return;
  // The lease stays as it is: a waiter that died while waiting must not hold up others for a lease of its own.
  if (rules_.hand_off_extends_lease) arm(claim, claim.lease, now);
  tell(claim, Event::Kind::granted, describe(claim, now));
}

void StoreModel::arm(Claim& claim, milliseconds lease, Instant now) {
  if (const Instant end = base::end_of(lease, now); end > claim.expires) {
    claim.expires = end;
    expiries_.update(claim);
    if (ClaimList& granted = claim.line->granted; claim.granted && granted.back() != &claim) {
      granted.erase(claim);
      granted.push_back(claim);
    }
  }
  claim.lease = std::chrono::floor<milliseconds>(claim.expires - now);
}

void StoreModel::retire(Line& line) {
  line.ordinals_stale = false;
  if (vacant_.size() == max_vacant_lines) {
    lines_.erase(lines_.find(*line.key));
    return;
  }
  line.vacant_index = static_cast<std::uint32_t>(vacant_.size());
  vacant_.push_back(&line);
}

std::uint64_t StoreModel::next_number(const Line& line) {
  if (rules_.reuse_number_after_expiry && line.expired_number != 0) return line.expired_number;
  return ++number_;
}

ClaimAnswer StoreModel::describe(const Claim& claim, Instant now) const {
  Line& line = *claim.line;
  ClaimAnswer answer;
  answer.number = claim.number;
  answer.lease = claim.lease;
  if (claim.granted) {
    answer.standing = ClaimAnswer::Standing::granted;
    if (claim.extras && claim.extras->asked) {
      const auto& [reason, until] = *claim.extras->asked;
      const auto left = std::chrono::floor<milliseconds>(until - now);
      answer.asked_to_release = ReleaseRequest{reason, std::max(left, milliseconds::zero())};
    }
    return answer;
  }
  answer.standing = ClaimAnswer::Standing::waiting;
  if (!rules_.number_on_joining) answer.number = number_ + 1;
  if (std::exchange(line.ordinals_stale, false)) {
    std::uint32_t ordinal = 0;
    for (Claim* each = line.waiting.front(); each != nullptr; each = each->next) each->ordinal = ordinal++;
  }
  answer.place = line.granted_count + (claim.ordinal - line.waiting.front()->ordinal);
  // All waiters look when a holder's lease ends, not only the first: it may have died as well. While the holder lives,
  // its lease ends later than their next renewal, so this costs nothing. The first one looks at several holders.
  const Claim* holder = line.granted.front();
  Instant opens = holder->opens();
  if (line.waiting.front() == &claim) {
    for (int looked = 1; looked < holders_to_look_at && holder->next != nullptr; ++looked) {
      holder = holder->next;
      opens = std::min(opens, holder->opens());
    }
  }
  answer.check_after = std::chrono::floor<milliseconds>(opens - now) + milliseconds(1);
  return answer;
}

void StoreModel::tell(const Claim& claim, Event::Kind kind, ClaimAnswer answer) {
  const LineKey& line = *claim.line->key;
  events_.push_back({claim.client, kind, line.name, line.kind, claim.id, std::move(answer)});
}

}  // namespace holdfast::memory
