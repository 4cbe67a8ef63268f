// GoogleTest's main(), or the life of a process that is going to be killed (victim.hpp).

#include <gtest/gtest.h>

#include "crash/victim.hpp"

int main(int argc, char** argv) {
  if (holdfast::crash::Victim::is_one(argc, argv)) holdfast::crash::Victim::live(argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
