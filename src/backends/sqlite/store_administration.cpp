#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/sqlite/store.hpp"

namespace holdfast::sqlite {

using std::chrono::system_clock;

namespace {

constexpr std::int64_t everybody = -1;  // SQL's LIMIT

}  // namespace

std::vector<LockStatus> Store::list(std::string_view prefix) {
  const system_clock::time_point wall = system_clock::now();
  std::vector<LockStatus> locks;
  bool permits = false;
  for (auto& entry : claims_.list(prefix)) {
    const Claim& claim = entry.claim;
    if (gone(claim)) continue;  // whoever writes next removes it
    if (locks.empty() || locks.back().name != entry.name || permits != entry.permits) {
      locks.emplace_back().name = entry.name;
      permits = entry.permits;
    }
    LockStatus& lock = locks.back();
    if (!claim.waiting) lock.number = std::max(lock.number, static_cast<std::uint64_t>(claim.number));
    auto& claims = claim.waiting ? lock.waiters : lock.holders;
    claims.push_back({.client = std::move(entry.client),
                      .mode = claim.mode,
                      .permits = claim.units,
                      .reason = std::move(entry.reason),
                      .since = wall - std::chrono::duration_cast<system_clock::duration>(now_ - claim.since),
                      .lease_left = std::chrono::floor<spi::milliseconds>(claim.expires - now_)});
  }
  return locks;
}

std::size_t Store::evict(std::string_view name) {
  std::size_t evicted = 0;
  for (const bool permits : {false, true}) {
    const LineKey line{name, permits};
    for (const Claim& holder : claims_.holders(line, everybody)) {
      if (!gone(holder)) ++evicted;
      tell(Message::Kind::check, line, holder);
      remove(line, holder);
    }
    settle(line);
  }
  return evicted;
}

std::size_t Store::ask_to_release(std::string_view name, std::string_view reason) {
  std::size_t asked = 0;
  for (const bool permits : {false, true}) {
    const LineKey line{name, permits};
    sweep(line);
    for (const Claim& holder : claims_.holders(line, everybody)) {
      claims_.ask(line, holder, reason);
      tell(Message::Kind::check, line, holder);
      ++asked;
    }
  }
  return asked;
}

void Store::remove_client(ClientNumber client) {
  for (const auto& [name, permits] : claims_.lines_of(client)) {
    const LineKey line{name, permits};
    for (const Claim& claim : claims_.claims_of(line, client)) remove(line, claim);
    settle(line);
  }
  clients_.erase(client);
}

void Store::resign(ClientNumber self) {
  const bool has_no_claims = places_.empty() && history_ == History::none;
  has_no_claims ? clients_.erase(self) : remove_client(self);
}

std::vector<ClientNumber> Store::bury_some() {
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
  for (const ClientNumber client : some) remove_client(client);
  return some;
}

}  // namespace holdfast::sqlite
