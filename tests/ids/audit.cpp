#include "ids/audit.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::ids_sim {

std::size_t Audit::granted(std::uint32_t worker, std::int64_t start, std::int64_t limit) {
  grants_.push_back({worker, start, limit});
  return grants_.size() - 1;
}

void Audit::extended(std::size_t grant, std::int64_t limit) {
  grants_[grant].limit = std::max(grants_[grant].limit, limit);
}

void Audit::ended(std::size_t grant, std::int64_t end) { grants_[grant].limit = std::min(grants_[grant].limit, end); }

void Audit::issued(std::size_t grant, std::uint64_t id) { issued_.push_back({id, grant}); }

std::vector<std::uint64_t> Audit::duplicates() const {
  std::vector<std::uint64_t> all;
  all.reserve(issued_.size());
  for (const Id& each : issued_) all.push_back(each.id);
  std::ranges::sort(all);
  std::vector<std::uint64_t> twice;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i] == all[i - 1]) twice.push_back(all[i]);
  }
  return twice;
}

std::vector<std::string> Audit::broken_windows() const {
  std::vector<std::string> broken;
  const auto text = [](const Grant& grant) {
    return "number " + std::to_string(grant.worker) + " [" + std::to_string(grant.start) + ", " +
           std::to_string(grant.limit) + ")";
  };
  std::vector<Grant> sorted = grants_;
  std::erase_if(sorted, [](const Grant& grant) { return grant.start >= grant.limit; });
  std::ranges::sort(sorted, [](const Grant& a, const Grant& b) {
    return a.worker != b.worker ? a.worker < b.worker : a.start < b.start;
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Grant& before = sorted[i - 1];
    if (before.worker == sorted[i].worker && sorted[i].start < before.limit) {
      broken.push_back(text(before) + " overlaps " + text(sorted[i]));
    }
  }
  for (const Id& each : issued_) {
    const Grant& grant = grants_[each.grant];
    const auto parts = layout_.decode(each.id);
    const std::int64_t tick = layout_.tick_of(parts.time);
    if (parts.worker != grant.worker || tick < grant.start || tick >= grant.limit) {
      broken.push_back("id " + std::to_string(each.id) + " of tick " + std::to_string(tick) + " is outside of " +
                       text(grant));
    }
  }
  return broken;
}

}  // namespace holdfast::ids_sim
