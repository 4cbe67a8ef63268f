#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/etcd/record.hpp"
#include "backends/etcd/wire.hpp"
#include "kit/line_rule.hpp"

namespace holdfast::etcd {

/// The claims on one lock, or on one semaphore, as a read has found them. The oldest claim comes first.
class Line {
 public:
  struct Claim {
    std::string key;
    std::int64_t create_revision = 0;
    std::int64_t mod_revision = 0;
    std::int64_t lease = 0;
    Record record;

    static Claim of(const KeyValue& found);
  };

  Line() = default;
  /// `found`: what a range has found, in its order.
  explicit Line(const std::vector<KeyValue>& found);

  const std::vector<Claim>& claims() const { return claims_; }
  bool empty() const { return claims_.empty(); }
  std::size_t size() const { return claims_.size(); }
  const Claim& operator[](std::size_t place) const { return claims_[place]; }

  std::optional<std::size_t> find(std::string_view key) const;
  /// What the line would be without that claim.
  void remove(std::string_view key);
  /// What the line would be with one more claim at its end.
  void append(Claim claim) { claims_.push_back(std::move(claim)); }

  /// How many permits there are, which is what the oldest claim says. Whoever joins must agree with it, and a change is
  /// written into all claims; a claim that does not agree leaves the line at once. 0 if the line is empty.
  std::uint32_t total() const { return claims_.empty() ? 0 : claims_.front().record.mode.limit; }

  /// How many permits holders and waiters have claimed.
  std::uint64_t claimed() const;

  kit::LinePosition position_of(std::size_t place) const;
  bool is_granted(std::size_t place) const { return position_of(place).kind == kit::LinePosition::Kind::granted; }

 private:
  std::vector<Claim> claims_;
};

}  // namespace holdfast::etcd
