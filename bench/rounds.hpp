#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "figures.hpp"

namespace holdfast::bench {

/// REQUIRES, for all: not empty.
double median(std::vector<double> values);
/// The smallest value that `percent` of all are not above.
double percentile(std::vector<double> values, double percent);
/// Of turns at a lock: those of whoever had fewest, beside the average. 1 if all had as many.
double evenness(const std::vector<std::uint64_t>& turns);

/// Something that can do the work.
struct Contender {
  std::string name;
  std::function<double()> round;  ///< does it once, and returns the figure
};

/// Lets all contenders do the work alternately, so that a noisy machine disturbs all of them alike, and compares the
/// first with the others: medians of the figures, and medians of the rounds' ratios.
Figure compare(std::string what, std::string unit, int rounds, const std::vector<Contender>& contenders);

/// Runs `work` `times` times; nanoseconds for one.
template <class Work>
double nanoseconds_each(int times, Work work) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) work();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - began;
  return taken.count() / times;
}

/// The same, as often as takes a short while: about as long for all contenders, and mostly within one time slice.
template <class Work>
double nanoseconds_each(Work work) {
  constexpr int batch = 500;
  constexpr double long_enough = 500'000;
  double taken = 0;
  int batches = 0;
  for (; taken < long_enough; ++batches) taken += batch * nanoseconds_each(batch, work);
  return taken / batch / batches;
}

}  // namespace holdfast::bench
