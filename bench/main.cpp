#include <benchmark/benchmark.h>

#include "figures.hpp"

// One program, so that all figures are of the same run. Options are Google Benchmark's: --benchmark_filter=<regex>,
// --benchmark_out=<file> for JSON, --benchmark_list_tests.
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  holdfast::bench::TableReporter table;
  return benchmark::RunSpecifiedBenchmarks(&table) > 0 ? 0 : 1;
}
