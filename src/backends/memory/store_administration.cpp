#include <algorithm>
#include <memory>
#include <utility>

#include "backends/memory/store.hpp"

namespace holdfast::memory {

using spi::Instant;
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
            .reason = claim.reason ? *claim.reason : std::string(),
            .since = wall - std::chrono::duration_cast<system_clock::duration>(now - claim.since),
            .lease_left = std::chrono::floor<spi::milliseconds>(claim.expires - now)};
  }
};

LockStatus status_of(const Line& line, const Wall& wall) {
  LockStatus status;
  status.name = line.key->name.text();
  for (const Claim* claim = line.granted.front(); claim != nullptr; claim = claim->next) {
    status.number = std::max(status.number, claim->number);
    status.holders.push_back(wall.status_of(*claim));
  }
  for (const Claim* claim = line.waiting.front(); claim != nullptr; claim = claim->next) {
    status.waiters.push_back(wall.status_of(*claim));
  }
  return status;
}

}  // namespace

std::vector<LockStatus> Store::list(std::string_view prefix, Instant now, system_clock::time_point wall) {
  advance(now);
  std::vector<const Line*> found;
  for (const auto& [key, line] : lines_) {
    if (!line.vacant() && std::string_view(key.name.text()).starts_with(prefix)) found.push_back(&line);
  }
  std::sort(found.begin(), found.end(), [](const Line* a, const Line* b) {
    const auto order = a->key->name <=> b->key->name;
    return order != 0 ? order < 0 : a->key->permits < b->key->permits;
  });
  std::vector<LockStatus> locks;
  locks.reserve(found.size());
  for (const Line* line : found) locks.push_back(status_of(*line, {now, wall}));
  return locks;
}

std::size_t Store::evict(const LockName& name, Instant now) {
  advance(now);
  std::size_t evicted = 0;
  for (const bool permits : {false, true}) {
    Line* const line = find_line(name, permits);
    if (line == nullptr || line->vacant()) continue;
    for (; !line->granted.empty(); ++evicted) {
      tell(*line->granted.front(), Event::Kind::check, {});
      remove(*line->granted.front());
    }
    settle(*line, now);
  }
  return evicted;
}

std::size_t Store::ask_to_release(const LockName& name, const std::string& reason, Instant now) {
  advance(now);
  std::size_t asked = 0;
  for (const bool permits : {false, true}) {
    Line* const line = find_line(name, permits);
    if (line == nullptr) continue;
    for (Claim* claim = line->granted.front(); claim != nullptr; claim = claim->next, ++asked) {
      claim->asked_to_release = std::make_unique<std::string>(reason);
      tell(*claim, Event::Kind::check, {});
    }
  }
  return asked;
}

}  // namespace holdfast::memory
