#pragma once

#include <algorithm>
#include <chrono>

namespace holdfast::test {

/// How often a case repeats something: `most` times where that is quick, fewer times where a round takes long, because
/// the store is slow or the machine is busy, but never less than a fiftieth. A case that tries its luck is not worth
/// more than a few seconds.
///
///     for (Rounds rounds(1000); rounds.next();) ...
class Rounds {
 public:
  explicit Rounds(int most, std::chrono::milliseconds enough = std::chrono::milliseconds(1500))
      : most_(most), least_(std::max(1, most / 50)), enough_(std::chrono::steady_clock::now() + enough) {}

  /// Whether there is another one.
  bool next() {
    if (done_ == most_ || (done_ >= least_ && std::chrono::steady_clock::now() > enough_)) return false;
    ++done_;
    return true;
  }
  /// How many there were.
  int done() const { return done_; }

 private:
  const int most_;
  const int least_;
  const std::chrono::steady_clock::time_point enough_;
  int done_ = 0;
};

}  // namespace holdfast::test
