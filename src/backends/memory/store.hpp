#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backends/memory/event.hpp"
#include "backends/memory/line.hpp"
#include "backends/memory/register_table.hpp"
#include "base/deadline_heap.hpp"
#include "base/instant.hpp"
#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"
#include "spi/result.hpp"

namespace holdfast::memory {

/// How a store behaves. The first is a matter of taste: stores differ. The others are mistakes that a store must not
/// make; the tests turn them on to see that they notice.
struct StoreRules {
  bool number_on_joining = false;  ///< numbers are given on joining the line (etcd, ZooKeeper), not with the grant

  bool renewal_recreates = false;          ///< renewing a claim that is gone makes a new one
  bool release_by_name = false;            ///< releasing frees whoever holds the name
  bool reuse_number_after_expiry = false;  ///< whoever follows an expired holder gets its number again
  bool hand_off_extends_lease = false;     ///< a waiter's lease starts anew when it is granted
  bool readers_ignore_writers = false;     ///< shared claims fit beside an exclusive one
  bool readers_overtake = false;           ///< shared claims that fit do not wait for those before them
  bool expiry_frees_twice = false;         ///< what an expired holder had counts as free twice
  bool downgrade_lets_go = false;          ///< a claim that becomes shared counts as nothing at all
  bool forgets_lock_delay = false;
};

/// A store of claims and registers, as a pure state machine: it knows no thread, no clock and no network. Every call
/// says what time it is on the store's clock, and first ends all leases that are due by then, whoever's they are. A
/// granted claim with a lock delay is then a ghost for that long: nobody finds it, but it still takes its place.
///
/// Answers leave `armed_at` at Instant::min(): whoever carries them knows when the request was sent. What others should
/// be told is kept until take_events(). Grants are numbered by one counter for the whole store, from 1. A name whose
/// last claim has gone leaves nothing behind that counts (some emptied lines are kept for the next names).
/// Not thread-safe.
class StoreModel {
 public:
  struct Counters {
    std::uint64_t grants = 0;
    std::uint64_t expiries = 0;        ///< of granted claims
    std::uint64_t takeovers = 0;       ///< grants that followed the expiry of a holder
    std::uint64_t stale_releases = 0;  ///< refused, because the claim had gone
  };

  explicit StoreModel(StoreRules rules = {}) : rules_(rules) {}
  StoreModel(const StoreModel&) = delete;
  StoreModel& operator=(const StoreModel&) = delete;

  // Claims: see spi::Claims. `client` is whom to tell about this claim from now on.

  /// Errc::invalid_argument if the request makes no sense, or wants permits out of another total than the name's
  /// other claims do. The claim that it `replaces` has gone in any case but the first.
  spi::Result<spi::ClaimAnswer> acquire(const spi::ClaimRequest& request, ClientNumber client, base::Instant now);
  bool release(const spi::ClaimRef& ref, base::Instant now);
  spi::ClaimAnswer renew(const spi::ClaimRef& ref, base::Instant now);
  /// Does not arm the lease. A claim that waits stays as it is; Errc::invalid_argument for permits.
  spi::Result<spi::ClaimAnswer> downgrade(const spi::ClaimRef& ref, base::Instant now);

  // Administration: see spi::Administration. `wall` is the time of day that belongs to `now`.

  std::optional<LockStatus> show(const LockName& name, LockKind kind, base::Instant now,
                                 std::chrono::system_clock::time_point wall);
  std::vector<LockStatus> list(std::string_view prefix, base::Instant now, std::chrono::system_clock::time_point wall);
  std::size_t evict(const LockName& name, LockKind kind, std::uint64_t up_to, base::Instant now);
  std::size_t ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request, base::Instant now);
  spi::Result<bool> resize(const LockName& name, std::uint32_t total, base::Instant now);

  RegisterTable& registers() { return registers_; }

  /// Ends all leases that are due and promotes whoever is next.
  void advance(base::Instant now);
  /// When the next lease ends, or a lock delay; Instant::max() if there is none.
  base::Instant next_expiry() const { return expiries_.next(); }

  /// What clients should be told, oldest first, since the last call.
  std::vector<Event> take_events();

  /// The store restarts and has forgotten all claims, but neither the counter nor the registers.
  void lose_everything();

  /// No claims: nothing is held or kept closed, nobody waits.
  bool empty() const { return claims_.empty(); }
  const Counters& counters() const { return counters_; }

 private:
  struct LineKeyView {
    const LockName& name;
    LockKind kind;
  };
  struct LineHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    // Not noexcept: libstdc++ then keeps the hash in the map's nodes instead of computing it again while searching.
    std::size_t operator()(const LineKey& key) const { return (*this)(LineKeyView{key.name, key.kind}); }
    std::size_t operator()(const LineKeyView& key) const {
      return std::hash<std::string>()(key.name.text()) + (key.kind == LockKind::semaphore ? 1 : 0);
    }
  };
  struct LineEqual {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return a.kind == b.kind && a.name == b.name;
    }
  };
  using Lines = std::unordered_map<LineKey, Line, LineHash, LineEqual>;
  // Several lines may use one id: a claim is known by both.
  using ClaimsById = std::unordered_multimap<spi::ClaimId, Claim>;

  Claim* find(const LockName& name, LockKind kind, const spi::ClaimId& id);
  Claim* find(const spi::ClaimRef& ref) { return find(ref.name, ref.kind, ref.id); }
  Line* find_line(const LockName& name, LockKind kind);
  Line& line_for(const LockName& name, LockKind kind);
  Claim& join(Line& line, const spi::ClaimRequest& request, ClientNumber client, base::Instant now);
  void withdraw(Claim& claim, base::Instant now);
  void remove(Claim& claim);
  void settle(Line& line, base::Instant now);
  bool fits(const Line& line, std::uint32_t units) const;
  void promote(Line& line, base::Instant now, const Claim* requester);
  void grant(Claim& claim, base::Instant now, const Claim* requester);
  void arm(Claim& claim, spi::milliseconds lease, base::Instant now);
  void retire(Line& line);
  std::uint64_t next_number(const Line& line);
  spi::ClaimAnswer describe(const Claim& claim, base::Instant now) const;
  void tell(const Claim& claim, Event::Kind kind, spi::ClaimAnswer answer);

  const StoreRules rules_;
  Counters counters_;
  std::uint64_t number_ = 0;
  std::vector<Event> events_;
  RegisterTable registers_{events_};
  Lines lines_;
  ClaimsById claims_;
  base::DeadlineHeap<Claim> expiries_;
  // Kept for reuse, so that a lock and its release allocate nothing. Bounded: see store_lines.cpp.
  std::vector<Line*> vacant_;
  std::vector<ClaimsById::node_type> spare_claims_;
  std::vector<Line*> unsettled_;  // only inside advance()
};

}  // namespace holdfast::memory
