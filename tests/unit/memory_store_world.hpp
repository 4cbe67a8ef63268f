#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/memory/store.hpp"
#include "spi/administration.hpp"

namespace holdfast::memory {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimId;
using spi::Mode;
using spi::WhenBusy;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto granted = ClaimAnswer::Standing::granted;
constexpr auto waiting = ClaimAnswer::Standing::waiting;
constexpr auto absent = ClaimAnswer::Standing::absent;
constexpr Mode exclusive = {.kind = ClaimMode::exclusive};
constexpr Mode shared = {.kind = ClaimMode::shared};
constexpr Mode permits(std::uint32_t k, std::uint32_t n) {
  return {.kind = ClaimMode::permits, .permits = k, .limit = n};
}

struct Options {
  Mode mode = exclusive;
  milliseconds lease = seconds(10);
  WhenBusy when_busy = WhenBusy::wait;
  milliseconds lock_delay = {};
  std::optional<int> replaces = {};
  std::string reason = {};
};

/// A store and a clock. Claims are numbered, and claim n belongs to client n.
class World {
 public:
  explicit World(StoreRules rules = {}) : store(rules) {}

  static ClaimId id(int claim) { return {.high = 1, .low = static_cast<std::uint64_t>(claim)}; }

  spi::Result<ClaimAnswer> try_acquire(int claim, const Options& options = {}) {
    kinds[claim] = spi::kind_of(options.mode);
    const std::optional<ClaimId> replaces = options.replaces ? std::optional(id(*options.replaces)) : std::nullopt;
    return store.acquire({.name = name,
                          .id = id(claim),
                          .mode = options.mode,
                          .lease = options.lease,
                          .when_busy = options.when_busy,
                          .lock_delay = options.lock_delay,
                          .replaces = replaces,
                          .reason = options.reason},
                         static_cast<ClientNumber>(claim), now);
  }
  ClaimAnswer acquire(int claim, const Options& options = {}) {
    auto answer = try_acquire(claim, options);
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? answer.value() : ClaimAnswer{};
  }
  /// In the line for which it was last acquired.
  spi::ClaimRef ref(int claim, milliseconds lease = {}) const {
    const auto known = kinds.find(claim);
    return {name, known == kinds.end() ? LockKind::lock : known->second, id(claim), lease};
  }
  ClaimAnswer renew(int claim, milliseconds lease = seconds(10)) { return store.renew(ref(claim, lease), now); }
  bool release(int claim) { return store.release(ref(claim), now); }
  ClaimAnswer downgrade(int claim) { return store.downgrade(ref(claim), now).value(); }
  std::size_t evict(LockKind kind = LockKind::lock) { return store.evict(name, kind, spi::Administration::all, now); }

  /// The clients that were told they hold, in this order.
  std::vector<int> told_granted() { return told(Event::Kind::granted); }
  std::vector<int> told_to_check() { return told(Event::Kind::check); }

  Instant now = Instant(hours(1));
  LockName name = "name";
  std::map<int, LockKind> kinds;
  StoreModel store;

 private:
  std::vector<int> told(Event::Kind kind) {
    std::vector<int> clients;
    for (const Event& event : store.take_events()) {
      if (event.kind == kind) clients.push_back(static_cast<int>(event.client));
    }
    return clients;
  }
};

}  // namespace holdfast::memory
