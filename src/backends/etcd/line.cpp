#include "backends/etcd/line.hpp"

#include <algorithm>

namespace holdfast::etcd {

Line::Line(const std::vector<KeyValue>& found) {
  claims_.reserve(found.size());
  for (const KeyValue& each : found) {
    claims_.push_back({each.key, each.create_revision, each.mod_revision, each.lease, Record::parse(each.value)});
  }
}

std::optional<std::size_t> Line::find(std::string_view key) const {
  const auto found = std::ranges::find(claims_, key, &Claim::key);
  if (found == claims_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - claims_.begin());
}

void Line::remove(std::string_view key) {
  std::erase_if(claims_, [&](const Claim& claim) { return claim.key == key; });
}

std::uint32_t Line::total(std::size_t count) const { return count == 0 ? 0 : claims_[count - 1].record.mode.limit; }

spi::Turn Line::turn_of(std::size_t place) const {
  std::vector<spi::LineEntry> entries;
  entries.reserve(claims_.size());
  for (const Claim& claim : claims_) entries.push_back({claim.record.mode, claim.record.keeps});
  return spi::turn_of(entries, place, total());
}

}  // namespace holdfast::etcd
