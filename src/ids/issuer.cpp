#include "ids/issuer.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::ids {

using base::Duration;
using base::Instant;

namespace {

/// Two grants of a process never have the same number, because a thread keeps it beside the ids that it has in stock.
std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Issuer::Issuer(LeaseRules rules, WhenSetBack when_set_back, WorkerLease::RandomSource random)
    : rules_(rules), when_set_back_(when_set_back), lease_(std::move(rules), std::move(random)) {}

WorkerLease::Step Issuer::step(WallTime wall, Instant boot) {
  follow_clock(wall);
  const WorkerLease::Step next = lease_.step(moment(wall, boot));
  follow_lease();
  return next;
}

void Issuer::looked(WorkerLease::Looked looked, WallTime wall, Instant boot) {
  lease_.looked(std::move(looked), moment(wall, boot));
  follow_lease();
}

void Issuer::wrote(const Reply<Written>& reply, WallTime wall, Instant boot) {
  lease_.wrote(reply, moment(wall, boot));
  follow_lease();
}

std::int64_t Issuer::most_ahead() const {
  const Duration tick = rules_.layout.tick();
  return (rules_.max_ahead + tick - Duration(1)) / tick;
}

void Issuer::leave_for_good() { lease_.leave_for_good(close_grant()); }

Moment Issuer::moment(WallTime wall, Instant boot) {
  if (granted_) {
    const std::uint64_t whole = (std::uint64_t{1} << sequence_bits()) - 1;
    reached_ = static_cast<std::int64_t>((grant()->next() + whole) >> sequence_bits());
  }
  return {.wall = wall, .boot = boot, .reached = reached_};
}

/// The first tick from which on nothing was issued.
std::int64_t Issuer::close_grant() {
  if (!std::exchange(granted_, false)) return reached_;
  const std::uint64_t whole = (std::uint64_t{1} << sequence_bits()) - 1;
  reached_ = static_cast<std::int64_t>((grant()->close() + whole) >> sequence_bits());
  return reached_;
}

/// Allows ids to be as far ahead of a clock that was set back as they are, and no further: so they go on, at the rate
/// of the layout, and a burst does not run away from the clock.
void Issuer::follow_clock(WallTime wall) {
  if (!granted_) return;
  Grant& issuing = *grant();
  const std::uint64_t next = issuing.next();
  const std::int64_t newest = next == 0 ? 0 : static_cast<std::int64_t>((next - 1) >> sequence_bits());
  const std::int64_t ahead = newest - rules_.layout.tick_of(wall);
  if (ahead <= issuing.most_ahead()) {
    return issuing.allow_ahead(std::min(issuing.most_ahead(), std::max(ahead, most_ahead())));
  }
  // Nothing is issued further ahead than that, so the clock was set back.
  if (when_set_back_ == WhenSetBack::keep_order) issuing.allow_ahead(ahead);
  if (when_set_back_ == WhenSetBack::keep_time) {
    lease_.leave(close_grant());
    reached_ = 0;
  }
}

void Issuer::follow_lease() {
  const std::optional<Tenure> tenure = lease_.tenure();
  if (granted_ && (!tenure || tenure->serial != serial_)) close_grant();
  if (!tenure) return;
  const auto limit = static_cast<std::uint64_t>(tenure->limit) << sequence_bits();
  if (granted_) {
    if (grant()->limit() < limit) grant()->raise_limit(limit);
    return;
  }
  auto& next = memory_.make<Grant>(next_serial(), tenure->worker,
                                   beginning_of(static_cast<std::uint64_t>(tenure->start), 0, sequence_bits()), limit);
  next.allow_ahead(most_ahead());
  serial_ = tenure->serial;
  granted_ = true;
  grant_.store(&next, std::memory_order_release);
}

}  // namespace holdfast::ids
