#include <algorithm>
#include <chrono>

#include "backends/sqlite/store_logic.hpp"
#include "kit/rules.hpp"

// How claims join lines, leave them and move up in them.

namespace holdfast::sqlite {

using spi::ClaimAnswer;
using spi::milliseconds;

namespace {

/// So many holders of a line are looked at whenever it is put in order, to see whether their clients live.
constexpr std::int64_t holders_at_once = 256;

/// Of those beyond, so many each time, from anywhere. Whose lease has ended is found in any case.
constexpr std::int64_t others_at_once = 64;

/// Whoever waits looks again after so long, whatever it was told.
constexpr milliseconds recheck = std::chrono::seconds(5);

}  // namespace

std::optional<Claim> StoreLogic::find(const LineKey& line, const spi::ClaimId& id) {
  std::optional<Claim> found;
  const auto place = places_.find(std::tuple(id, line.kind, line.name));
  if (place != places_.end()) found = claims_.at(line, place->second);
  if (!found || found->id != id) found = claims_.find(line, id);
  if (!found || !expired(*found)) return found;
  if (found->waiting || found->opens <= now_) {
    withdraw(line, *found);
  } else {
    left_ghosts_ = true;
  }
  return std::nullopt;
}

void StoreLogic::forget(const LineKey& line, const spi::ClaimId& id) {
  const auto place = places_.find(std::tuple(id, line.kind, line.name));
  if (place != places_.end()) places_.erase(place);
}

bool StoreLogic::has_room(const LineKey& line, ClaimMode mode, std::uint32_t units) {
  if (line.permits()) {
    const auto pool = claims_.pool(line.name);
    if (!pool) fail_as_damaged("permits without their pool");
    return pool->fits(units);
  }
  const auto first = claims_.first(line);
  if (!first || first->waiting) return true;
  return mode == ClaimMode::shared && first->mode == ClaimMode::shared;
}

/// Whether a newcomer is granted at once: there is room, and it overtakes nobody.
bool StoreLogic::may_enter(const LineKey& line, const spi::Mode& mode) {
  const auto first = claims_.first(line);
  if (!first) return true;
  if (first->waiting || mode.kind == ClaimMode::exclusive) return false;
  return has_room(line, mode.kind, mode.permits) && !claims_.first_waiting(line);
}

/// The first to come decides how many permits there are.
std::optional<spi::Failure> StoreLogic::set_total(const spi::ClaimRequest& request, const LineKey& line) {
  const auto pool = claims_.pool(line.name);
  if (pool && pool->size == request.mode.limit) return std::nullopt;
  if (pool && claims_.first(line)) {
    sweep(line);
    if (claims_.first(line)) return kit::different_total(request, pool->size);
  }
  claims_.set_pool(line.name, {.size = request.mode.limit});
  return std::nullopt;
}

/// Removes holders that are gone, and lets in whoever is next.
void StoreLogic::sweep(const LineKey& line) {
  const std::vector<Claim> holders = claims_.holders(line, holders_at_once);
  for (const Claim& holder : holders) {
    if (gone(holder)) bury(line, holder);
  }
  if (holders.size() == holders_at_once) sweep_crowd(line);
  settle(line);
}

/// There are more holders than can be looked at.
void StoreLogic::sweep_crowd(const LineKey& line) {
  for (const Claim& holder : claims_.opened(line, now_, holders_at_once)) remove(line, holder);
  const auto first = claims_.first(line);
  const auto last = claims_.last_holder(line);
  if (!first || !last) return;
  // The clock's last digits are as good as dice.
  const std::int64_t per_mille = now_.time_since_epoch().count() / 100 % 1000;
  const std::int64_t from = first->place + (last->place - first->place) / 1000 * per_mille;
  for (const Claim& holder : claims_.holders_from(line, from, others_at_once)) {
    if (gone(holder)) bury(line, holder);
  }
}

/// A claim has ended by itself: its lease has ended, or its client has died. It may have to stay as a ghost.
StoreLogic::Left StoreLogic::bury(const LineKey& line, const Claim& claim) {
  Claim ended = claim;
  if (!expired(claim)) {
    // From when its death is noticed, which is now.
    ended.expires = now_;
    ended.opens = base::saturating_add(now_, claim.opens - claim.expires);
  }
  if (claim.waiting || ended.opens <= now_) {
    remove(line, claim);
    return Left::nothing;
  }
  if (!expired(claim)) claims_.arm(line, ended);
  return Left::ghost;
}

void StoreLogic::settle(const LineKey& line) {
  promote(line);
  if (line.permits() && !claims_.first(line)) claims_.erase_pool(line.name);
}

void StoreLogic::promote(const LineKey& line) {
  // Strictly in order: one that does not fit blocks those behind it, or it could wait for ever.
  std::int64_t place = 0;
  while (auto next = claims_.first_waiting(line)) {
    if (next->place <= place) fail_as_damaged("a line that has no end");
    place = next->place;
    if (gone(*next)) {
      remove(line, *next);
      continue;
    }
    if (!has_room(line, next->mode, next->units)) return;
    grant(line, *std::move(next));
  }
}

void StoreLogic::grant(const LineKey& line, Claim claim) {
  // The lease stays as it is: a waiter that is stopped must not hold up others for a lease of its own.
  claim.waiting = false;
  claim.number = numbers_.next();
  claim.since = now_;
  claims_.grant(line, claim);
  use_pool(line, claim, +1);
  if (claim.id != requester_) tell(Message::Kind::granted, line, claim);
}

void StoreLogic::remove(const LineKey& line, const Claim& claim) {
  claims_.erase(line, claim);
  if (!claim.waiting) use_pool(line, claim, -1);
}

/// A claim leaves by its own will, or its lease has ended.
void StoreLogic::withdraw(const LineKey& line, const Claim& claim) {
  remove(line, claim);
  settle(line);
  if (!claim.waiting) return;
  // Whoever stood behind it waits for somebody else now.
  if (const auto behind = claims_.waiting_behind(line, claim.place)) tell(Message::Kind::check, line, *behind);
}

void StoreLogic::arm(const LineKey& line, Claim& claim, milliseconds lease) {
  const base::Instant end = base::end_of(lease, now_);
  if (lease > milliseconds::zero() && end > claim.expires) {
    claim.opens = base::saturating_add(end, claim.opens - claim.expires);
    claim.expires = end;
    claim.lease = lease;
    claims_.arm(line, claim);
  } else {
    claim.lease = std::chrono::floor<milliseconds>(claim.expires - now_);
  }
}

void StoreLogic::use_pool(const LineKey& line, const Claim& claim, int sign) {
  if (!line.permits()) return;
  auto pool = claims_.pool(line.name);
  if (!pool || (sign < 0 && (pool->used < claim.units || pool->holders == 0))) {
    fail_as_damaged("permits without their pool");
  }
  pool->used = sign > 0 ? pool->used + claim.units : pool->used - claim.units;
  pool->holders = sign > 0 ? pool->holders + 1 : pool->holders - 1;
  claims_.set_pool(line.name, *pool);
}

ClaimState StoreLogic::describe(const LineKey& line, const Claim& claim) {
  ClaimState state;
  ClaimAnswer& answer = state.answer;
  answer.standing = claim.waiting ? ClaimAnswer::Standing::waiting : ClaimAnswer::Standing::granted;
  answer.number = static_cast<std::uint64_t>(claim.waiting ? numbers_.floor() : claim.number);
  answer.lease = claim.lease;
  if (claim.waiting) {
    describe_wait(line, claim, state);
  } else if (claim.asked) {
    const auto left = std::chrono::floor<milliseconds>(claim.asked->until - now_);
    answer.asked_to_release = ReleaseRequest{claim.asked->reason, std::max(left, milliseconds::zero())};
  }
  return state;
}

void StoreLogic::describe_wait(const LineKey& line, const Claim& claim, ClaimState& state) {
  std::optional<Claim> before = claims_.waiting_before(line, claim.place);
  while (before && gone(*before)) {
    const std::int64_t place = before->place;
    remove(line, *before);
    before = claims_.waiting_before(line, place);
  }
  // All waiters look when a holder's lease ends, not only the first: it may have died as well. While the holder lives,
  // its lease ends later than their next renewal, so this costs nothing. The first one looks at every holder.
  base::Instant opens = base::Instant::max();
  const std::vector<Claim> holders = claims_.holders(line, before ? 1 : holders_at_once);
  for (const Claim& holder : holders) {
    opens = std::min(opens, holder.opens);
    if (!before && !expired(holder)) state.ahead.push_back(holder.client);
  }
  if (holders.size() == holders_at_once) opens = std::min(opens, claims_.first_to_open(line));
  if (before) state.ahead.push_back(before->client);
  std::sort(state.ahead.begin(), state.ahead.end());
  state.ahead.erase(std::unique(state.ahead.begin(), state.ahead.end()), state.ahead.end());
  state.answer.place = claims_before(line, claim);
  const auto until_then = std::chrono::floor<milliseconds>(opens - now_) + milliseconds(1);
  state.answer.check_after = std::clamp(until_then, milliseconds(1), recheck);
}

std::uint32_t StoreLogic::claims_before(const LineKey& line, const Claim& claim) {
  const auto pool = line.permits() ? claims_.pool(line.name) : std::nullopt;
  const std::int64_t holders = pool ? pool->holders : claims_.count_holders(line);
  return static_cast<std::uint32_t>(holders + claims_.count_waiting_before(line, claim.place));
}

void StoreLogic::tell(Message::Kind kind, const LineKey& line, const Claim& claim) {
  notices_.push_back({claim.client,
                      {.kind = kind,
                       .name = std::string(line.name),
                       .line = line.kind,
                       .id = claim.id,
                       .number = claim.number,
                       .lease = claim.lease}});
}

}  // namespace holdfast::sqlite
