// GoogleTest's main(), or that of a process which a test has started.

#include <gtest/gtest.h>

#include "faults/contender.hpp"
#include "support/threads_at_exit.hpp"
#include "support/worker.hpp"

int main(int argc, char** argv) {
  holdfast::test::wait_for_threads_at_exit();
  if (holdfast::faults::is_contender(argc, argv)) holdfast::faults::run_contender(argv);
  if (holdfast::test::is_worker(argc, argv)) holdfast::test::run_worker();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
