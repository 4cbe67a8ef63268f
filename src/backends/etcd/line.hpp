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

/// The claims on one lock, or on one semaphore, as a read has found them: the oldest first.
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
  /// `found`: by a range, so they are in order.
  explicit Line(const std::vector<KeyValue>& found);

  const std::vector<Claim>& claims() const { return claims_; }
  bool empty() const { return claims_.empty(); }
  std::size_t size() const { return claims_.size(); }
  const Claim& operator[](std::size_t place) const { return claims_[place]; }

  std::optional<std::size_t> find(std::string_view key) const;
  /// As if it had gone.
  void remove(std::string_view key);
  /// As if it had come.
  void append(Claim claim) { claims_.push_back(std::move(claim)); }

  /// How many permits there are: what the oldest claim says. All who come must agree, and a change is written into all
  /// of them; a claim that does not agree stands there for a moment only. 0: nobody says it.
  std::uint32_t total() const { return claims_.empty() ? 0 : claims_.front().record.mode.limit; }

  /// How many of them are claimed, by holders and waiters.
  std::uint64_t claimed() const;

  kit::Turn turn_of(std::size_t place) const;
  bool is_granted(std::size_t place) const { return turn_of(place).kind == kit::Turn::Kind::granted; }

 private:
  std::vector<Claim> claims_;
};

}  // namespace holdfast::etcd
