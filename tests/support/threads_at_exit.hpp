#pragma once

#include <chrono>
#include <cstdlib>

#include "support/descriptors.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {

/// When this process exits, it waits for its other threads to end. Those of gRPC have done their work when the last
/// client is closed, but may still be on their way out on a busy machine; and LeakSanitizer, which looks at all threads
/// at the very end, stumbles over one that vanishes before its eyes.
inline void wait_for_threads_at_exit() {
  static const int registered =
      std::atexit([] { static_cast<void>(eventually(std::chrono::seconds(2), [] { return thread_count() == 1; })); });
  static_cast<void>(registered);
}

}  // namespace holdfast::test
