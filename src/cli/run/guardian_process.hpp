#pragma once

#include <sys/types.h>

#include <vector>

#include "base/file_descriptor.hpp"
#include "cli/run/guardian_link.hpp"
#include "cli/run/job.hpp"
#include "cli/run/loss_times.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// What the guardian process does: it is the command's parent, and the new parent of all that the command leaves
/// behind, so that every descendant can be found. Single-threaded; reacts to
///
/// | phase       | event                          | then                                                   |
/// |-------------|--------------------------------|--------------------------------------------------------|
/// | waiting     | order to start                 | running; ended at once when the lease is nearly over   |
/// | waiting     | the tool is gone               | ends                                                   |
/// | running     | the command ends               | reports, ends; what the command left is left alone     |
/// | running     | lease or max_hold nearly over  | SIGTERM to all, terminating                            |
/// | running     | the tool says: lost            | SIGTERM to all, terminating                            |
/// | running     | order to forward a signal      | passes it on                                           |
/// | running     | the command stops or goes on   | stops the tool or lets it go on (on a terminal)        |
/// | terminating | nobody is left                 | reports, ends                                          |
/// | terminating | time is up                     | SIGKILL until nobody is left, reports, ends            |
/// | any         | the tool is gone               | SIGKILL until nobody is left, ends                     |
///
/// Terminating is final: a renewal that succeeds after SIGTERM was sent cannot take it back. A job that is only to be
/// warned of a loss is never terminated, and goes on when the tool is gone.
///
/// Where the store notices that the tool dies, it would give the lock away before this process has killed anybody; so
/// this process has the tool's lifeline, too, until it ends.
class GuardianProcess {
 public:
  /// In the forked process. `link` is its end; all else belongs to the tool's copy of this memory.
  GuardianProcess(pid_t tool, base::FileDescriptor link, SharedState& state, const Job& job, const Signals& signals);

  /// Returns when there is nothing left to guard.
  void run();

 private:
  using Instant = base::Instant;
  enum class Phase { running, terminating, killing };

  bool wait_for_start(Grant& grant);
  void start(const Grant& grant);
  void guard();
  /// Sleeps until something happens, or until `deadline`.
  void wait_until(Instant deadline);
  void obey();
  void reap();
  void follow(int status);
  void forward(int signal) const;
  void watch_the_clock();
  bool must_go() const;
  Ended::Cause cause() const;
  void terminate(Ended::Cause cause, Instant kill_at);
  void kill() const;
  Instant next_deadline() const;

  const pid_t tool_;
  base::FileDescriptor link_;
  SharedState& state_;
  const Job& job_;
  const Signals& signals_;
  const LossTimes times_;
  base::FileDescriptor children_;  ///< readable when a child changed
  base::FileDescriptor timer_;
  std::vector<base::FileDescriptor> lifeline_;  ///< until this process ends, the store counts the tool as alive

  Phase phase_ = Phase::running;
  pid_t command_ = -1;  ///< -1 once it has ended
  bool has_children_ = false;
  bool tool_gone_ = false;
  Instant kill_at_ = Instant::max();
  Ended ended_;
};

}  // namespace holdfast::cli
