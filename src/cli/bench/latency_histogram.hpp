#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace holdfast::cli {

/// How often which latency was seen, in little memory however many there are: exact below 128 ns, above that to within
/// 1 %. Not thread-safe; each thread has its own, and they are put together in the end.
class LatencyHistogram {
 public:
  LatencyHistogram();

  /// REQUIRES: not negative.
  void add(std::chrono::nanoseconds latency);
  void add(const LatencyHistogram& other);

  std::uint64_t count() const { return count_; }
  /// The smallest latency that `percent` of all do not exceed; zero if there are none. REQUIRES: 0 < percent <= 100.
  std::chrono::nanoseconds percentile(double percent) const;

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
};

}  // namespace holdfast::cli
