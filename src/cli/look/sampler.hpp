#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "base/instant.hpp"
#include "cli/look/break_marks.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {

/// One look at a store.
struct Sample {
  std::vector<LockStatus> locks = {};
  std::vector<BreakMark> marks = {};
  std::string failure = {};  ///< why it did not answer; else empty. Printable
  base::Instant taken = base::BootClock::now();
  std::chrono::system_clock::time_point wall = std::chrono::system_clock::now();
};

/// Looks at a store again and again, on a thread of its own, so that a store that does not answer keeps nobody from
/// pressing keys. Stores cannot tell of changes in their listings by themselves.
class Sampler {
 public:
  /// Looks at all locks that begin with `prefix`, with this pause between two looks. REQUIRES: signals that somebody
  /// reads from a descriptor are blocked already.
  Sampler(Client client, std::string prefix, std::chrono::milliseconds pause);
  /// Does not wait for a store that does not answer.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Readable when there is something to take.
  int descriptor() const { return news_.get(); }
  /// The newest sample; empty if there is none since the last call.
  std::optional<Sample> take();

 private:
  void run(const std::stop_token& stop);

  Client client_;
  const std::string prefix_;
  const std::chrono::milliseconds pause_;
  base::FileDescriptor news_;
  std::mutex mutex_;
  std::optional<Sample> newest_;  ///< guarded by mutex_
  std::jthread thread_;           ///< the last: it uses all of the above
};

}  // namespace holdfast::cli
