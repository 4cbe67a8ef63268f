#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "driver.hpp"
#include "mapped_turns.hpp"
#include "scratch.hpp"

namespace holdfast::bench {

/// Processes that do nothing but take one lock and let it go. They live as long as this, so that those that need to get
/// warm have been.
class Crowd {
 public:
  Crowd(const std::vector<std::string>& command, int size);

  struct Outcome {
    double per_second = 0;  ///< hand-offs from one process to another
    double evenness = 0;
    std::vector<double> latencies = {};  ///< of hand-offs, microseconds
  };
  Outcome run(std::chrono::milliseconds duration);

 private:
  const Scratch scratch_;
  const std::string file_ = scratch_.file("turns");
  const MappedTurns turns_{file_, MappedTurns::As::maker};
  std::vector<std::unique_ptr<Driver>> processes_;
};

}  // namespace holdfast::bench
