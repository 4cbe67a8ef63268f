#include "backends/sqlite/store_logic.hpp"

#include <algorithm>
#include <utility>

#include "kit/rules.hpp"

// Locks and permits differ only in how it is decided that there is room (has_room). An uncontended acquire looks at the
// line once and inserts; an uncontended release deletes and looks who waits. Everything else is paid by those who find
// the line busy. The lines themselves are kept in store_lines.cpp.

namespace holdfast::sqlite {

using spi::ClaimRef;
using spi::ClaimRequest;
using spi::milliseconds;
using spi::Result;

StoreLogic::StoreLogic(Connection& connection, const Lifelines& lifelines, const Machine& machine, Numbers& numbers,
                       History history)
    : connection_(connection),
      lifelines_(lifelines),
      machine_(machine),
      numbers_(numbers),
      history_(history),
      claims_(connection),
      clients_(connection),
      registers_(connection) {}

void StoreLogic::start() {
  now_ = machine_.now();
  notices_.clear();
}

Result<ClaimState> StoreLogic::acquire(const ClaimRequest& request, ClientNumber self) {
  if (auto failure = kit::why_invalid(request)) return *std::move(failure);
  const Requester requester(*this, request.id);
  const LineKey line{request.name.text(), request.kind()};
  if (request.replaces && *request.replaces != request.id) {
    if (const auto old = find(line, *request.replaces)) withdraw(line, *old);
    forget(line, *request.replaces);
  }
  const bool empty = !claims_.first(line);
  bool enters = empty;
  if (!empty) {
    if (auto found = find(line, request.id)) {
      arm(line, *found, request.lease);
      return describe(line, *found);
    }
    // Whoever is gone and in nobody's way may stay where it is.
    enters = request.mode.kind != ClaimMode::exclusive && may_enter(line, request.mode);
    if (!enters) {
      sweep(line);
      enters = may_enter(line, request.mode);
    }
  }
  if (line.permits()) {
    if (auto failure = set_total(request, line)) return *std::move(failure);
  }
  if (!enters && request.when_busy == spi::WhenBusy::refuse) return ClaimState{};
  Claim claim{.waiting = !enters,
              .place = numbers_.next(),
              .id = request.id,
              .client = self,
              .crowd = !empty && request.mode.kind != ClaimMode::exclusive,
              .mode = request.mode.kind,
              .units = line.permits() ? request.mode.permits : 1,
              .lease = request.lease,
              .since = now_};
  claim.expires = base::end_of(request.lease, now_);
  claim.opens = base::end_of(request.lock_delay, claim.expires);
  if (enters) {
    claim.number = claim.place;
    use_pool(line, claim, +1);
  }
  claims_.insert(line, claim, request.reason);
  places_.insert_or_assign({request.id, line.kind, request.name.text()}, claim.place);
  return describe(line, claim);
}

bool StoreLogic::release(const ClaimRef& ref) {
  const LineKey line{ref.name.text(), ref.kind};
  const auto found = find(line, ref.id);
  forget(line, ref.id);
  if (!found) return false;
  withdraw(line, *found);
  return true;
}

ClaimState StoreLogic::renew(const ClaimRef& ref) {
  const LineKey line{ref.name.text(), ref.kind};
  auto found = find(line, ref.id);
  if (found && found->waiting) {
    const Requester requester(*this, ref.id);
    sweep(line);
    found = find(line, ref.id);
  }
  if (!found) {
    forget(line, ref.id);
    return {};
  }
  arm(line, *found, ref.lease);
  return describe(line, *found);
}

Result<ClaimState> StoreLogic::downgrade(const ClaimRef& ref) {
  const LineKey line{ref.name.text(), ref.kind};
  auto found = find(line, ref.id);
  if (!found) return ClaimState{};
  if (line.permits()) return kit::cannot_downgrade_permits(ref.name);
  if (!found->waiting && found->mode == ClaimMode::exclusive) {
    found->mode = ClaimMode::shared;
    claims_.make_shared(line, *found);
    promote(line);
  }
  return describe(line, *found);
}

std::vector<Notice> StoreLogic::take_notices() { return std::exchange(notices_, {}); }

}  // namespace holdfast::sqlite
