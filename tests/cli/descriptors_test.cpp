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

}  // namespace
}  // namespace holdfast::test
