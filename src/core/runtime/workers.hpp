#pragma once

#include <chrono>
#include <memory>

#include "base/callback.hpp"

namespace holdfast::core {

/// Threads for code that may block: the user's callbacks, and system calls such as resolving a name.
///
/// A task never waits behind one that blocks: when no thread is idle, another is started (up to a bound; then tasks
/// wait). Idle threads end after a while. Thread-safe.
class Workers {
 public:
  static constexpr std::size_t max_threads = 64;

  Workers();
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// After stop() the task is destroyed without being run.
  void run(base::Task task);

  /// Runs what is queued, ends the threads, and waits for them at most `patience`; one that is stuck is left behind.
  /// May be called from inside a task: that one is not waited for.
  void stop(std::chrono::nanoseconds patience);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< kept alive by threads that were left behind
};

}  // namespace holdfast::core
