#include "cli/look/changes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using Claims = std::vector<ClaimStatus>;

/// A grant has a number of its own. Not by `since`: a store may work that out anew for each look.
bool same_grant(const ClaimStatus& one, const ClaimStatus& other) {
  return one.number == other.number && one.client.id == other.client.id;
}

/// Waiters have no number: those of one client that want the same are told apart by nothing but their count.
bool same_waiter(const ClaimStatus& one, const ClaimStatus& other) {
  return one.client.id == other.client.id && one.mode == other.mode && one.permits == other.permits;
}

/// Those of `from` that have no match in `others`; each match counts once.
template <class Same>
Claims without(const Claims& from, const Claims& others, Same same) {
  std::vector<const ClaimStatus*> unmatched;
  unmatched.reserve(others.size());
  for (const ClaimStatus& other : others) unmatched.push_back(&other);
  Claims rest;
  for (const ClaimStatus& claim : from) {
    const auto match =
        std::find_if(unmatched.begin(), unmatched.end(), [&](const ClaimStatus* other) { return same(claim, *other); });
    if (match == unmatched.end()) {
      rest.push_back(claim);
    } else {
      unmatched.erase(match);
    }
  }
  return rest;
}

/// One lock at two looks; empty where there was none.
struct Looks {
  Claims holders_before = {};
  Claims waiters_before = {};
  Claims holders = {};
  Claims waiters = {};
};

bool was_not_renewed(const ClaimStatus& holder, milliseconds elapsed) {
  constexpr milliseconds too_long_to_know = std::chrono::seconds(1);
  return elapsed <= too_long_to_know && holder.lease_left <= elapsed;
}

/// `is_broken` says whether an operator has taken the grant with a number away.
template <class IsBroken>
std::vector<std::pair<Change::Kind, ClaimStatus>> changes_of(const Looks& looks, milliseconds elapsed,
                                                             IsBroken is_broken) {
  std::vector<std::pair<Change::Kind, ClaimStatus>> changes;
  const auto add = [&](Change::Kind kind, const Claims& claims) {
    for (const ClaimStatus& claim : claims) changes.emplace_back(kind, claim);
  };
  for (const ClaimStatus& holder : without(looks.holders_before, looks.holders, same_grant)) {
    const Change::Kind end = was_not_renewed(holder, elapsed) ? Change::Kind::expired : Change::Kind::released;
    add(is_broken(holder.number) ? Change::Kind::broken : end, {holder});
  }
  const Claims acquired = without(looks.holders, looks.holders_before, same_grant);
  const Claims not_served = without(looks.waiters_before, acquired, same_waiter);
  add(Change::Kind::left, without(not_served, looks.waiters, same_waiter));
  add(Change::Kind::acquired, acquired);
  add(Change::Kind::waiting, without(looks.waiters, not_served, same_waiter));
  return changes;
}

}  // namespace

std::string_view word_for(Change::Kind kind) {
  switch (kind) {
    case Change::Kind::held: return "held";
    case Change::Kind::acquired: return "acquired";
    case Change::Kind::released: return "released";
    case Change::Kind::broken: return "broken";
    case Change::Kind::expired: return "expired";
    case Change::Kind::waiting: return "waiting";
    case Change::Kind::left: return "left";
  }
  return "unknown";
}

std::vector<Change> present(const std::vector<LockStatus>& locks) {
  std::vector<Change> changes = changes_between({}, locks, {});
  for (Change& change : changes) {
    if (change.kind == Change::Kind::acquired) change.kind = Change::Kind::held;
  }
  return changes;
}

std::vector<Change> changes_between(const std::vector<LockStatus>& from, const std::vector<LockStatus>& to,
                                    milliseconds elapsed, const std::vector<BreakMark>& marks) {
  std::map<std::pair<std::string, LockKind>, Looks> locks;
  for (const LockStatus& lock : from) {
    Looks& looks = locks[{lock.name, lock.kind}];
    looks.holders_before = lock.holders;
    looks.waiters_before = lock.waiters;
  }
  for (const LockStatus& lock : to) {
    Looks& looks = locks[{lock.name, lock.kind}];
    looks.holders = lock.holders;
    looks.waiters = lock.waiters;
  }
  std::vector<Change> changes;
  for (const auto& [lock, looks] : locks) {
    const std::string& name = lock.first;
    const LockKind lock_kind = lock.second;
    const auto is_broken = [&](std::uint64_t number) { return is_marked(marks, name, lock_kind, number); };
    for (auto& [kind, claim] : changes_of(looks, elapsed, is_broken)) {
      changes.push_back({.kind = kind, .name = name, .lock_kind = lock_kind, .claim = std::move(claim)});
    }
  }
  return changes;
}

}  // namespace holdfast::cli
