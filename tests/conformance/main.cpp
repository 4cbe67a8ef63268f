// GoogleTest's main(), or that of a worker process (support/peer.hpp).

#include <gtest/gtest.h>

#include "support/threads_at_exit.hpp"
#include "support/worker.hpp"

// Read by ThreadSanitizer where there is one: forked children open clients of their own, which start threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

int main(int argc, char** argv) {
  holdfast::test::wait_for_threads_at_exit();
  if (holdfast::test::is_worker(argc, argv)) holdfast::test::run_worker();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
