#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "core/engine/claim.hpp"

namespace holdfast::core {

class Engine;

/// Collects the claims that are due for renewal at the same moment and renews them in one request, or, if they are
/// many, in one after the other: all at once they would wait for each other, each would take as long as all of them
/// together, and a store that is slow today would answer none in time.
class Renewals {
 public:
  explicit Renewals(Engine& engine) : engine_(engine) {}

  /// `claim` is renewed as soon as everything else that is due now has been added too.
  void renew(Claim& claim);

 private:
  struct Due {
    Claim* claim = nullptr;
    spi::ClaimId id;
  };
  using Answers = spi::Result<std::vector<spi::ClaimAnswer>>;

  /// No more than these are under way at any time.
  static constexpr std::size_t most_under_way = 1024;

  void flush();
  void send_next();
  void send(std::vector<Due> batch);
  void answered(const std::vector<Due>& batch, const Answers& answers);

  Engine& engine_;
  std::vector<Due> due_;     ///< now
  std::deque<Due> waiting_;  ///< were due, and too many are under way
  std::size_t under_way_ = 0;
};

}  // namespace holdfast::core
