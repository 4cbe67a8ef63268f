#include <algorithm>
#include <utility>

#include "backends/memory/store.hpp"
#include "kit/rules.hpp"

namespace holdfast::memory {

using base::Instant;
using std::chrono::system_clock;

namespace {

/// Brings the store's time to the wall.
struct Wall {
  Instant now;
  system_clock::time_point wall;

  ClaimStatus status_of(const Claim& claim) const {
    return {.client = claim.identity ? *claim.identity : ClientIdentity{},
            .mode = claim.mode,
            .permits = claim.mode == ClaimMode::permits ? claim.units : 1,
            .number = claim.granted ? claim.number : 0,
            .reason = claim.extras ? claim.extras->reason : std::string(),
            .since = wall - std::chrono::duration_cast<system_clock::duration>(now - claim.since),
            .lease_left = std::chrono::floor<spi::milliseconds>(claim.expires - now)};
  }
};

/// Empty if only ghosts are there.
std::optional<LockStatus> status_of(const Line& line, const Wall& wall) {
  LockStatus status;
  status.name = line.key->name.text();
  if (line.key->kind == LockKind::semaphore) {
    status.kind = LockKind::semaphore;
    status.total = line.limit;
  }
  std::vector<const Claim*> holders;
  for (const Claim* claim = line.granted.front(); claim != nullptr; claim = claim->next) {
    if (!claim->ghost) holders.push_back(claim);
  }
  std::sort(holders.begin(), holders.end(), [](const Claim* a, const Claim* b) { return a->number < b->number; });
  for (const Claim* claim : holders) status.holders.push_back(wall.status_of(*claim));
  if (!holders.empty()) status.number = holders.back()->number;
  for (const Claim* claim = line.waiting.front(); claim != nullptr; claim = claim->next) {
    status.waiters.push_back(wall.status_of(*claim));
  }
  if (status.holders.empty() && status.waiters.empty()) return std::nullopt;
  return status;
}

}  // namespace

std::optional<LockStatus> StoreModel::show(const LockName& name, LockKind kind, Instant now,
                                           system_clock::time_point wall) {
  advance(now);
  const Line* const line = find_line(name, kind);
  return line != nullptr && !line->vacant() ? status_of(*line, {now, wall}) : std::nullopt;
}

std::vector<LockStatus> StoreModel::list(std::string_view prefix, Instant now, system_clock::time_point wall) {
  advance(now);
  std::vector<const Line*> found;
  for (const auto& [key, line] : lines_) {
    if (!line.vacant() && std::string_view(key.name.text()).starts_with(prefix)) found.push_back(&line);
  }
  std::sort(found.begin(), found.end(), [](const Line* a, const Line* b) {
    const auto order = a->key->name <=> b->key->name;
    return order != 0 ? order < 0 : a->key->kind < b->key->kind;
  });
  std::vector<LockStatus> locks;
  locks.reserve(found.size());
  for (const Line* line : found) {
    if (auto lock = status_of(*line, {now, wall})) locks.push_back(*std::move(lock));
  }
  return locks;
}

std::size_t StoreModel::evict(const LockName& name, LockKind kind, std::uint64_t up_to, Instant now) {
  advance(now);
  Line* const line = find_line(name, kind);
  if (line == nullptr || line->vacant()) return 0;
  std::size_t evicted = 0;
  for (Claim *claim = line->granted.front(), *next = nullptr; claim != nullptr; claim = next) {
    next = claim->next;
    if (claim->number > up_to) continue;
    if (!claim->ghost) {
      tell(*claim, Event::Kind::check, {});
      ++evicted;
    }
    remove(*claim);
  }
  settle(*line, now);
  return evicted;
}

std::size_t StoreModel::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                                       Instant now) {
  advance(now);
  const Line* const line = find_line(name, kind);
  if (line == nullptr) return 0;
  std::size_t asked = 0;
  for (Claim* claim = line->granted.front(); claim != nullptr; claim = claim->next) {
    if (claim->ghost) continue;
    claim->with_extras().asked = {request.reason, base::end_of(request.within, now)};
    tell(*claim, Event::Kind::check, {});
    ++asked;
  }
  return asked;
}

spi::Result<bool> StoreModel::resize(const LockName& name, std::uint32_t total, Instant now) {
  if (auto failure = kit::why_invalid_total(name, total)) return *std::move(failure);
  advance(now);
  Line* const line = find_line(name, LockKind::semaphore);
  if (line == nullptr || line->vacant()) return false;
  line->limit = total;
  for (Claim *claim = line->waiting.front(), *next = nullptr; claim != nullptr; claim = next) {
    next = claim->next;
    if (claim->units <= total) continue;  // else it would never be granted
    tell(*claim, Event::Kind::check, {});
    remove(*claim);
  }
  settle(*line, now);
  return true;
}

}  // namespace holdfast::memory
