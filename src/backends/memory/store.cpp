#include "backends/memory/store.hpp"

#include <algorithm>
#include <utility>

#include "kit/rules.hpp"

// Each operation ends the leases that are due (advance), finds its claim, and then either joins a line, removes claims
// from it (remove) or changes them; whoever changed a line settles it: promotes those who now fit, and retires it when
// nobody is left. The lines themselves are kept in store_lines.cpp.

namespace holdfast::memory {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::milliseconds;
using spi::Result;

namespace {

// For a claim that the renewal_recreates mistake made: a renewal does not say whose it is.
constexpr ClientNumber nobody = static_cast<ClientNumber>(-1);

}  // namespace

Result<ClaimAnswer> StoreModel::acquire(const ClaimRequest& request, ClientNumber client, Instant now) {
  if (auto failure = kit::why_invalid(request)) return *std::move(failure);
  advance(now);
  if (request.replaces && *request.replaces != request.id) {
    if (Claim* old = find(request.name, request.kind(), *request.replaces)) withdraw(*old, now);
  }
  if (Claim* claim = find(request.name, request.kind(), request.id)) {
    claim->client = client;
    arm(*claim, request.lease, now);
    return describe(*claim, now);
  }
  Line& line = line_for(request.name, request.kind());
  const std::uint32_t limit = Line::limit_of(request.mode);
  if (line.vacant()) line.limit = limit;
  if (line.limit != limit) return kit::different_total(request, line.limit);
  const bool enters = line.waiting.empty() && fits(line, Line::units_of(request.mode));
  if (!enters && request.when_busy == spi::WhenBusy::refuse) return ClaimAnswer{};
  const Claim& claim = join(line, request, client, now);
  promote(line, now, &claim);
  return describe(claim, now);
}

bool StoreModel::release(const ClaimRef& ref, Instant now) {
  advance(now);
  Claim* claim = find(ref);
  if (rules_.release_by_name) {
    if (const Line* line = find_line(ref.name, LockKind::lock); line != nullptr && !line->granted.empty()) {
      claim = line->granted.front();
    }
  }
  if (claim == nullptr) {
    ++counters_.stale_releases;
    return false;
  }
  withdraw(*claim, now);
  return true;
}

ClaimAnswer StoreModel::renew(const ClaimRef& ref, Instant now) {
  advance(now);
  Claim* const claim = find(ref);
  if (claim != nullptr) {
    arm(*claim, ref.lease, now);
    return describe(*claim, now);
  }
  if (rules_.renewal_recreates) {
    auto answer = acquire({.name = ref.name, .id = ref.id, .lease = ref.lease}, nobody, now);
    if (answer.ok()) return std::move(answer.value());
  }
  return {};
}

Result<ClaimAnswer> StoreModel::downgrade(const ClaimRef& ref, Instant now) {
  advance(now);
  Claim* const claim = find(ref);
  if (claim == nullptr) return ClaimAnswer{};
  if (claim->mode == ClaimMode::permits) return kit::cannot_downgrade_permits(ref.name);
  if (claim->granted && claim->mode == ClaimMode::exclusive) {
    claim->mode = ClaimMode::shared;
    const std::uint32_t units = rules_.downgrade_lets_go ? 0 : 1;
    claim->line->used -= claim->units - units;
    claim->units = units;
    settle(*claim->line, now);
  }
  return describe(*claim, now);
}

void StoreModel::advance(Instant now) {
  if (expiries_.next() > now) return;
  // First all that are due, then the promotions: nobody is promoted who is dead by now.
  while (expiries_.next() <= now) {
    Claim& claim = expiries_.top();
    Line& line = *claim.line;
    if (claim.granted && !claim.ghost) {
      ++counters_.expiries;
      line.expired_number = claim.number;
      if (claim.lock_delay() > milliseconds::zero()) {
        claim.expires = claim.opens();
        claim.ghost = true;
        expiries_.update(claim);
        continue;
      }
    }
    if (!std::exchange(line.unsettled, true)) unsettled_.push_back(&line);
    if (rules_.expiry_frees_twice && claim.granted && claim.mode == ClaimMode::permits)
      line.used -= std::min(line.used, claim.units);
    remove(claim);
  }
  for (Line* line : unsettled_) {
    line->unsettled = false;
    settle(*line, now);
  }
  unsettled_.clear();
}

std::vector<Event> StoreModel::take_events() { return std::exchange(events_, {}); }

void StoreModel::lose_everything() {
  expiries_.clear();
  vacant_.clear();
  claims_.clear();
  lines_.clear();
  events_.clear();
}

}  // namespace holdfast::memory
