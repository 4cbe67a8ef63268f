#include "cli/bench/latency_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace holdfast::cli {
namespace {

// 64 buckets for each power of two: the six bits behind the first one of a number, and how many are left out below
// them. Numbers below 128 leave out none.
constexpr unsigned bits = 6;
constexpr std::uint64_t per_power = 1U << bits;

std::size_t bucket_of(std::uint64_t number) {
  const auto width = static_cast<unsigned>(std::bit_width(number));
  const unsigned left_out = width > bits + 1 ? width - bits - 1 : 0;
  return static_cast<std::size_t>(left_out * per_power + (number >> left_out));
}

/// The middle of a bucket.
std::uint64_t number_in(std::size_t bucket) {
  const std::uint64_t left_out = bucket < 2 * per_power ? 0 : bucket / per_power - 1;
  const std::uint64_t size = std::uint64_t{1} << left_out;
  return ((bucket - left_out * per_power) << left_out) + size / 2;
}

}  // namespace

LatencyHistogram::LatencyHistogram() : buckets_(bucket_of(~std::uint64_t{0}) + 1) {}

void LatencyHistogram::add(std::chrono::nanoseconds latency) {
  ++buckets_[bucket_of(static_cast<std::uint64_t>(latency.count()))];
  ++count_;
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  std::transform(buckets_.begin(), buckets_.end(), other.buckets_.begin(), buckets_.begin(), std::plus<>());
  count_ += other.count_;
}

std::chrono::nanoseconds LatencyHistogram::percentile(double percent) const {
  const auto rank = static_cast<std::uint64_t>(std::ceil(static_cast<double>(count_) * percent / 100));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > 0 && seen >= rank) return std::chrono::nanoseconds(static_cast<std::int64_t>(number_in(bucket)));
  }
  return std::chrono::nanoseconds::zero();
}

}  // namespace holdfast::cli
