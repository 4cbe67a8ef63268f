#include "backends/etcd/line.hpp"

#include <algorithm>

namespace holdfast::etcd {

Line::Claim Line::Claim::of(const KeyValue& found) {
  return {found.key, found.create_revision, found.mod_revision, found.lease, Record::parse(found.value)};
}

Line::Line(const std::vector<KeyValue>& found) {
  claims_.reserve(found.size());
  for (const KeyValue& each : found) claims_.push_back(Claim::of(each));
}

std::optional<std::size_t> Line::find(std::string_view key) const {
  const auto found = std::ranges::find(claims_, key, &Claim::key);
  if (found == claims_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - claims_.begin());
}

void Line::remove(std::string_view key) {
  std::erase_if(claims_, [&](const Claim& claim) { return claim.key == key; });
}

std::uint64_t Line::claimed() const {
  std::uint64_t sum = 0;
  for (const Claim& claim : claims_) sum += claim.record.mode.permits;
  return sum;
}

kit::LinePosition Line::position_of(std::size_t place) const {
  std::vector<kit::LineEntry> entries;
  entries.reserve(claims_.size());
  for (const Claim& claim : claims_) entries.push_back({claim.record.mode, claim.record.keeps});
  return kit::position_of(entries, place, claims_[place].record.mode.limit);
}

}  // namespace holdfast::etcd
