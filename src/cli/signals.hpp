#pragma once

#include <signal.h>

#include "base/file_descriptor.hpp"

namespace holdfast::cli {

/// The signals of a tool that runs a command. While this exists, the signals that are passed on to the command are
/// blocked, to be read from descriptor(); those that the tool found ignored (nohup) stay ignored and are left out.
/// Also lets a write to a closed pipe fail instead of ending the tool, and makes children waitable.
///
/// Made once, before any thread: threads inherit the mask.
class Signals {
 public:
  Signals();

  /// Readable when a signal is there to be passed on.
  int descriptor() const { return descriptor_.get(); }
  struct Arrived {
    int signal = 0;              ///< 0 if there was none
    bool from_terminal = false;  ///< a key was pressed, or the terminal went away: the whole job has got it

    bool asks_to_end() const { return signal != 0 && signal != SIGUSR1 && signal != SIGUSR2; }
  };
  Arrived take() const;

  /// Everything as the tool found it, for a process that becomes the command.
  void restore() const;

 private:
  sigset_t mask_before_{};
  struct sigaction pipe_before_{};
  struct sigaction child_before_{};
  base::FileDescriptor descriptor_;
};

/// Blocks every signal, for a process that only reads from descriptors.
void block_all_signals();
/// Makes a background process immune to the signals with which a terminal stops such processes.
void ignore_terminal_stops();

}  // namespace holdfast::cli
