#include <algorithm>
#include <chrono>

#include "backends/sqlite/store.hpp"
#include "spi/rules.hpp"

// How claims join lines, leave them and move up in them.

namespace holdfast::sqlite {

using spi::ClaimAnswer;
using spi::milliseconds;

namespace {

/// A line with more holders than this is put in order a part at a time.
constexpr std::int64_t holders_at_once = 256;

/// Whoever waits looks again after so long, whatever it was told.
constexpr milliseconds recheck = std::chrono::seconds(5);

}  // namespace

std::optional<Store::Found> Store::find(const LockName& name, const spi::ClaimId& id) {
  if (const auto place = places_.find(id); place != places_.end()) {
    const LineKey line{name.text(), place->second.permits};
    if (auto claim = claims_.at(line, place->second.turn); claim && claim->id == id) return Found{line, *claim};
  }
  auto found = claims_.find(name.text(), id);
  if (!found) return std::nullopt;
  return Found{{name.text(), found->second}, std::move(found->first)};
}

bool Store::has_room(const LineKey& line, ClaimMode mode, std::uint32_t units) {
  if (line.permits) {
    const auto pool = claims_.pool(line.name);
    return !pool || units <= pool->size - pool->used;
  }
  const auto first = claims_.first(line);
  if (!first || first->waiting) return true;
  return mode == ClaimMode::shared && first->mode == ClaimMode::shared;
}

/// Whether a newcomer is granted at once: there is room, and it overtakes nobody.
bool Store::may_enter(const LineKey& line, const spi::Mode& mode) {
  const auto first = claims_.first(line);
  if (!first) return true;
  if (first->waiting || mode.kind == ClaimMode::exclusive) return false;
  return has_room(line, mode.kind, mode.permits) && !claims_.first_waiting(line);
}

/// The first to come decides how many permits there are.
std::optional<spi::Failure> Store::set_total(const spi::ClaimRequest& request, const LineKey& line) {
  const auto pool = claims_.pool(line.name);
  if (pool && pool->size == request.mode.limit) return std::nullopt;
  if (pool && claims_.first(line)) {
    sweep(line);
    if (claims_.first(line)) return spi::different_total(request, pool->size);
  }
  claims_.set_pool(line.name, {.size = request.mode.limit, .used = 0});
  return std::nullopt;
}

/// Removes holders that are gone, and lets in whoever is next.
void Store::sweep(const LineKey& line) {
  for (const Claim& holder : claims_.holders(line, holders_at_once)) {
    if (gone(holder)) remove(line, holder);
  }
  settle(line);
}

void Store::settle(const LineKey& line) {
  promote(line);
  if (line.permits && !claims_.first(line)) claims_.erase_pool(line.name);
}

void Store::promote(const LineKey& line) {
  // Strictly in order: one that does not fit blocks those behind it, or it could wait for ever.
  while (auto next = claims_.first_waiting(line)) {
    if (gone(*next)) {
      remove(line, *next);
      continue;
    }
    if (!has_room(line, next->mode, next->units)) return;
    grant(line, *std::move(next));
  }
}

void Store::grant(const LineKey& line, Claim claim) {
  // The lease stays as it is: a waiter that is stopped must not hold up others for a lease of its own.
  claim.waiting = false;
  claim.number = numbers_.next();
  claim.since = now_;
  claims_.grant(line, claim);
  use_pool(line, claim, +1);
  if (claim.id != asking_) tell(Message::Kind::granted, line, claim);
}

void Store::remove(const LineKey& line, const Claim& claim) {
  claims_.erase(line, claim);
  if (!claim.waiting) use_pool(line, claim, -1);
}

/// A claim leaves by its own will, or its lease has ended.
void Store::withdraw(const LineKey& line, const Claim& claim) {
  remove(line, claim);
  settle(line);
  if (!claim.waiting) return;
  // Whoever stood behind it waits for somebody else now.
  if (const auto behind = claims_.waiting_behind(line, claim.turn)) tell(Message::Kind::check, line, *behind);
}

void Store::arm(const LineKey& line, Claim& claim, milliseconds lease) {
  const spi::Instant end = spi::saturating_add(now_, lease);
  if (lease > milliseconds::zero() && end > claim.expires) {
    claim.expires = end;
    claim.lease = lease;
    claims_.arm(line, claim);
  } else {
    claim.lease = std::chrono::floor<milliseconds>(claim.expires - now_);
  }
}

void Store::use_pool(const LineKey& line, const Claim& claim, int sign) {
  if (!line.permits) return;
  if (auto pool = claims_.pool(line.name)) {
    pool->used = sign > 0 ? pool->used + claim.units : pool->used - claim.units;
    claims_.set_pool(line.name, *pool);
  }
}

Standing Store::describe(const LineKey& line, const Claim& claim) {
  Standing standing;
  ClaimAnswer& answer = standing.answer;
  answer.standing = claim.waiting ? ClaimAnswer::Standing::waiting : ClaimAnswer::Standing::granted;
  answer.number = static_cast<std::uint64_t>(claim.waiting ? numbers_.floor() : claim.number);
  answer.lease = claim.lease;
  if (claim.waiting) {
    describe_wait(line, claim, standing);
  } else {
    answer.asked_to_release = claim.asked;
  }
  return standing;
}

void Store::describe_wait(const LineKey& line, const Claim& claim, Standing& standing) {
  std::optional<Claim> before = claims_.waiting_before(line, claim.turn);
  while (before && gone(*before)) {
    remove(line, *before);
    before = claims_.waiting_before(line, claim.turn);
  }
  // All waiters look when a holder's lease ends, not only the first: it may have died as well. While the holder lives,
  // its lease ends later than their next renewal, so this costs nothing. The first one looks at every holder.
  spi::Instant ends = spi::Instant::max();
  for (const Claim& holder : claims_.holders(line, before ? 1 : holders_at_once)) {
    ends = std::min(ends, holder.expires);
    if (!before) standing.ahead.push_back(holder.client);
  }
  if (before) standing.ahead.push_back(before->client);
  std::sort(standing.ahead.begin(), standing.ahead.end());
  standing.ahead.erase(std::unique(standing.ahead.begin(), standing.ahead.end()), standing.ahead.end());
  standing.answer.place = static_cast<std::uint32_t>(claims_.count_before(line, claim.turn));
  const auto until_end = std::chrono::floor<milliseconds>(ends - now_) + milliseconds(1);
  standing.answer.check_after = std::clamp(until_end, milliseconds(1), recheck);
}

void Store::tell(Message::Kind kind, const LineKey& line, const Claim& claim) {
  notices_.push_back(
      {claim.client,
       {.kind = kind, .name = std::string(line.name), .id = claim.id, .number = claim.number, .lease = claim.lease}});
}

}  // namespace holdfast::sqlite
