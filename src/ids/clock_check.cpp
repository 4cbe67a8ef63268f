#include "ids/clock_check.hpp"

namespace holdfast::ids {

using base::Duration;
using base::Instant;

Duration ClockWatch::observe(WallTime wall, Instant boot) {
  // What a clock that is being adjusted may gain or lose between two looks.
  constexpr Duration tolerance = std::chrono::milliseconds(50);
  const Duration offset = wall.time_since_epoch() - boot.time_since_epoch();
  const Duration change = offset - offset_.value_or(offset);
  offset_ = offset;
  return change > tolerance || change < -tolerance ? change : Duration::zero();
}

ClockCheck::Verdict ClockCheck::decided(bool believed) {
  witness_.reset();
  believed_ = believed;
  return believed ? Verdict::believed : Verdict::refused;
}

ClockCheck::Verdict ClockCheck::compare(WallTime wall, const StoreTime& store) {
  return decided(wall - store.uncertainty - rules_.max_ahead <= store.time);
}

ClockCheck::Verdict ClockCheck::compare(WallTime wall, Instant boot, const std::optional<Witness>& newest) {
  if (!newest || wall - newest->window_ends <= witness_slack) return decided(true);
  witness_ = newest;
  look_again_at_ = base::saturating_add(boot, rules_.witness_rests);
  return Verdict::look_again;
}

ClockCheck::Verdict ClockCheck::compare_again(WallTime wall, const Witness& now) {
  const bool lives = witness_ && now.version != witness_->version;
  return decided(!lives || wall - now.window_ends <= witness_slack);
}

}  // namespace holdfast::ids
