#pragma once

#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// What a figure should be.
struct Aim {
  enum class Of { value, ratio };
  enum class Is { below, at_least };
  Of of = Of::value;
  Is is = Is::below;
  double limit = 0;
};

/// What else the same work was done with, in the same run.
struct Peer {
  std::string name;
  double value = 0;
  double ratio = 0;             ///< Holdfast's value / this one: the median of the rounds' ratios
  std::optional<Aim> aim = {};  ///< of the ratio to this one; for the first peer, the figure's may be used
};

/// One measured number of Holdfast, and what to compare it with.
struct Figure {
  std::string what;
  double value = 0;
  std::string unit = {};
  std::vector<Peer> peers = {};
  std::optional<Aim> aim = {};  ///< a ratio means that to the first peer
};

/// Puts a figure into the table, and into the JSON as counters of the benchmark that is running.
void report(benchmark::State& state, const Figure& figure);

/// Prints the figures of each benchmark when it is finished, one a line.
class TableReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
};

}  // namespace holdfast::bench
