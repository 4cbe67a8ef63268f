#include <benchmark/benchmark.h>

#include <cstdlib>
#include <exception>
#include <iostream>

#include "figures.hpp"
#include "holdfast/holdfast.hpp"
#include "store/store.hpp"

namespace holdfast::bench {

/// script/bench --peers has built them there.
std::optional<std::vector<std::string>> Store::peer_command() const {
  const char* const folder = std::getenv("HOLDFAST_BENCH_PEERS");
  if (folder == nullptr) return std::nullopt;
  return std::vector<std::string>{folder + ("/" + peer_program), address};
}

}  // namespace holdfast::bench

// Options are Google Benchmark's, as of the other benchmarks.
int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    const holdfast::bench::Store& store = holdfast::bench::store();
    const holdfast::Client client(store.url);  // throws if this build has no such backend
    if (!store.peer_command()) {
      std::cout << "Holdfast alone: the aims are ratios, and need --peers to be looked at.\n";
    }
    holdfast::bench::TableReporter table;
    return benchmark::RunSpecifiedBenchmarks(&table) > 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "script/bench: " << error.what() << '\n';
    return 1;
  }
}
