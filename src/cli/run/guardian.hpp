#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/file_descriptor.hpp"
#include "cli/run/guardian_link.hpp"
#include "cli/run/job.hpp"
#include "cli/run/loss_times.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// The terms on which the command has the lock.
struct HoldTerms {
  Grant grant = {};
  base::Instant ends = base::Instant::max();           ///< the end of `--max-hold`
  LossTimes::Proof proof = LossTimes::Proof::at_once;  ///< what the store proves of its lease
  std::vector<int> lifeline = {};  ///< what the guardian keeps open, so that the lock is not given away before it ends
};

/// The tool's side of the guardian: a small process between the tool and the command that ends the command, with all
/// its descendants, when the lock cannot be held any longer, also when the tool is stopped or dead. Not thread-safe.
class Guardian {
 public:
  /// Forks it. REQUIRES: no other thread exists yet. `job` and `signals` must outlive *this.
  Guardian(const Job& job, const Signals& signals);
  ~Guardian() { leave(); }
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// The lease lasts for `remaining` from `now`, a moment before that was asked for. Never makes it shorter. Returns
  /// when the guardian will end the command unless it hears of a renewal before.
  base::Instant set_remaining(base::Instant now, std::chrono::nanoseconds remaining, LossTimes::Proof proof);
  /// Starts the command. REQUIRES: set_remaining().
  void start(const HoldTerms& terms);
  void forward(int signal);
  void tell_lost();
  /// Why the command should be dead by now, if it should: somebody has stopped the guardian.
  std::optional<Ended::Cause> overdue() const;

  /// Leaves: a guardian that runs a command then kills it. Waits until the guardian has ended. Idempotent.
  void leave();

  /// Readable when the command has ended, or the guardian died.
  int descriptor() const { return link_.get(); }
  /// How the command ended. Empty if the guardian died: what is left of the command is then a descendant of this
  /// process. Blocks until either has happened.
  std::optional<Ended> ended();

 private:
  struct Unmap {
    void operator()(SharedState* state) const;
  };

  const LossTimes times_;
  const std::chrono::nanoseconds renewal_;  ///< V moves by more than this when the lease is renewed
  std::unique_ptr<SharedState, Unmap> state_;
  base::FileDescriptor link_;
  pid_t pid_ = -1;
  std::optional<base::Instant> kill_at_after_loss_;
};

}  // namespace holdfast::cli
