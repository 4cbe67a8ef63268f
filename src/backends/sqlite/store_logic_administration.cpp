#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/sqlite/store_logic.hpp"

namespace holdfast::sqlite {

using std::chrono::system_clock;

namespace {

constexpr std::int64_t everybody = -1;  // SQL's LIMIT

}  // namespace

std::vector<LockStatus> StoreLogic::list(std::string_view prefix) { return living(claims_.list(prefix)); }

std::optional<LockStatus> StoreLogic::show(std::string_view name, LockKind kind) {
  for (LockStatus& lock : living(claims_.show(name))) {
    if (lock.kind == kind) return std::move(lock);
  }
  return std::nullopt;
}

std::vector<LockStatus> StoreLogic::living(std::vector<ClaimTable::Listed> listed) const {
  const system_clock::time_point wall = system_clock::now();
  std::vector<LockStatus> locks;
  for (auto& entry : listed) {
    const Claim& claim = entry.claim;
    if (gone(claim)) continue;
    if (locks.empty() || locks.back().name != entry.name || locks.back().kind != entry.kind) {
      locks.push_back({.name = entry.name, .kind = entry.kind, .total = entry.total});
    }
    LockStatus& lock = locks.back();
    if (!claim.waiting) lock.number = std::max(lock.number, static_cast<std::uint64_t>(claim.number));
    auto& claims = claim.waiting ? lock.waiters : lock.holders;
    claims.push_back({.client = std::move(entry.client),
                      .mode = claim.mode,
                      .permits = claim.units,
                      .number = claim.waiting ? 0 : static_cast<std::uint64_t>(claim.number),
                      .reason = std::move(entry.reason),
                      .since = wall - std::chrono::duration_cast<system_clock::duration>(now_ - claim.since),
                      .lease_left = std::chrono::floor<spi::milliseconds>(claim.expires - now_)});
  }
  return locks;
}

std::size_t StoreLogic::evict(std::string_view name, LockKind kind, std::uint64_t up_to) {
  const LineKey line{name, kind};
  std::size_t evicted = 0;
  for (const Claim& holder : claims_.holders(line, everybody)) {
    if (static_cast<std::uint64_t>(holder.number) > up_to) continue;
    if (!gone(holder)) {
      tell(Message::Kind::check, line, holder);
      ++evicted;
    }
    remove(line, holder);
  }
  settle(line);
  return evicted;
}

std::size_t StoreLogic::ask_to_release(std::string_view name, LockKind kind, const ReleaseRequest& request) {
  const LineKey line{name, kind};
  sweep(line);
  std::size_t asked = 0;
  for (const Claim& holder : claims_.holders(line, everybody)) {
    if (gone(holder)) continue;
    claims_.ask(line, holder, {request.reason, base::end_of(request.within, now_)});
    tell(Message::Kind::check, line, holder);
    ++asked;
  }
  return asked;
}

bool StoreLogic::resize(std::string_view name, std::uint32_t total) {
  const LineKey line{name, LockKind::semaphore};
  sweep(line);
  auto pool = claims_.pool(name);
  if (!pool) return false;
  pool->size = total;
  claims_.set_pool(name, *pool);
  const std::vector<Claim> hopeless = claims_.waiting_for_more_than(line, total);
  for (const Claim& claim : hopeless) {
    remove(line, claim);
    tell(Message::Kind::check, line, claim);
  }
  settle(line);
  for (const Claim& claim : hopeless) {
    if (const auto behind = claims_.waiting_behind(line, claim.place)) tell(Message::Kind::check, line, *behind);
  }
  return true;
}

/// The client goes with its last claim; while there are ghosts of it, somebody must come back for them.
StoreLogic::Left StoreLogic::remove_claims_of(ClientNumber client) {
  Left left = Left::nothing;
  for (const auto& [name, kind] : claims_.lines_of(client)) {
    const LineKey line{name, kind};
    for (const Claim& claim : claims_.claims_of(line, client)) {
      if (bury(line, claim) == Left::ghost) left = Left::ghost;
    }
    settle(line);
  }
  if (left == Left::nothing) clients_.erase(client);
  return left;
}

void StoreLogic::resign(ClientNumber self) {
  const bool has_no_claims = places_.empty() && !left_ghosts_ && history_ == History::none;
  if (has_no_claims) {
    clients_.erase(self);
  } else {
    remove_claims_of(self);
  }
}

std::vector<ClientNumber> StoreLogic::bury_some() {
  // The oldest, and some from anywhere in between: numbers are times. A few at each opening are enough, because a dead
  // client that somebody waits for is noticed there.
  constexpr std::int64_t at_once = 8;
  auto some = clients_.some_from(0, at_once);
  if (some.size() == at_once) {
    const std::int64_t span = numbers_.floor() - some.front();
    const auto from = some.front() + span / 1000 * (now_.time_since_epoch().count() / 100 % 1000);
    const auto others = clients_.some_from(from, at_once);
    some.insert(some.end(), others.begin(), others.end());
  }
  std::erase_if(some, [this](ClientNumber client) { return lifelines_.alive(client); });
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  std::erase_if(some, [this](ClientNumber client) { return remove_claims_of(client) == Left::ghost; });
  return some;
}

}  // namespace holdfast::sqlite
