// What the tool says when the system gives it too little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/world.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Descriptors : public World {};

TEST_F(Descriptors, ThatAreMissingAreNotBlamedOnProc) {
  const Finished finished =
      run({"sh", "-c", "ulimit -n 10; exec \"$0\" run x -- true", tool({}).front()}, with_store());
  EXPECT_THAT(finished.code, testing::AnyOf(69, 70)) << finished.errors;  // 70: not even signals can be watched
  EXPECT_THAT(finished.errors, Not(HasSubstr("mount /proc")));
}

/// Whoever runs out of them, the tool or its guardian, which needs a few more: it is told as what it is, and not as an
/// error of the command.
TEST_F(Descriptors, ThatAreMissingAreNotBlamedOnTheCommand) {
  bool enough = false;
  for (int limit = 10; limit < 64 && !enough; ++limit) {
    const std::string script = "ulimit -n " + std::to_string(limit) + "; exec \"$0\" run x -- true";
    const Finished finished = run({"sh", "-c", script, tool({}).front()}, with_store());
    EXPECT_THAT(finished.code, testing::AnyOf(0, 69, 70, 78)) << limit << ": " << finished.errors;
    EXPECT_THAT(finished.errors, Not(HasSubstr("cannot run 'true'"))) << limit;
    enough = finished.code == 0;
  }
  EXPECT_TRUE(enough);
}

}  // namespace
}  // namespace holdfast::test
