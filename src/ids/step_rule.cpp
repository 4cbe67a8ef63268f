#include "ids/step_rule.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::ids {

std::int64_t StepRule::next(base::Instant now, std::int64_t used, bool somebody_waits) {
  measure(now, used);
  const std::chrono::duration<double> lasts = std::max(bounds_.lasts, 4 * latency_);
  const auto now_has = static_cast<double>(step_);
  double wanted = rate_ * lasts.count();
  if (somebody_waits && measured_) wanted = std::max(wanted, 2 * now_has);
  const double most = now_has * (somebody_waits ? 4 : 2);
  if (wanted >= now_has / 2) wanted = std::max(wanted, now_has);
  const double next = std::clamp(wanted, now_has / 2, most);
  step_ = static_cast<std::int64_t>(
      std::clamp(next, static_cast<double>(bounds_.smallest), static_cast<double>(bounds_.largest)));
  return step_;
}

void StepRule::measure(base::Instant now, std::int64_t used) {
  if (measured_ && now > measured_->at) {
    const std::chrono::duration<double> elapsed = now - measured_->at;
    const double rate = static_cast<double>(used - measured_->used) / elapsed.count();
    rate_ = rate_ == 0 ? rate : (rate_ + rate) / 2;
  }
  measured_ = Measured{now, used};
}

}  // namespace holdfast::ids
