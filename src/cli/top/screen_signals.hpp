#pragma once

#include <signal.h>

#include "base/file_descriptor.hpp"

namespace holdfast::cli {

/// What happens to a program that owns the screen: it was resized, it shall stop (Ctrl-Z elsewhere, `kill -TSTP`), it
/// was continued. While this exists, these signals are blocked, to be read from descriptor().
///
/// Made before any thread that does not block all signals: threads inherit the mask.
class ScreenSignals {
 public:
  ScreenSignals();
  ~ScreenSignals();
  ScreenSignals(const ScreenSignals&) = delete;
  ScreenSignals& operator=(const ScreenSignals&) = delete;

  /// Readable when one is there to be taken.
  int descriptor() const { return descriptor_.get(); }
  /// SIGWINCH, SIGTSTP or SIGCONT; 0 if there is none.
  int take() const;

  /// Stops the whole job, as Ctrl-Z does. Returns when it was continued; at once where nobody could continue it.
  static void stop_job();

 private:
  sigset_t mask_before_{};
  base::FileDescriptor descriptor_;
};

}  // namespace holdfast::cli
