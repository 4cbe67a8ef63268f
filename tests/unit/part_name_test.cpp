#include "spi/part_name.hpp"

#include <gtest/gtest.h>

#include "holdfast/error.hpp"

namespace holdfast::spi {
namespace {

TEST(PartName, IsNoNameThatAUserCanGive) {
  const LockName part = PartName::of("job", "once");
  EXPECT_THROW(LockName{part.text()}, Error);
  EXPECT_EQ(PartName::stored(part.text()), part);
}

TEST(PartName, IsSplitAgain) {
  const LockName part = PartName::of("job", "once");
  EXPECT_EQ(PartName::split(part.text()).name, "job");
  EXPECT_EQ(PartName::split(part.text()).part, "once");
  EXPECT_EQ(PartName::split("job").name, "job");
  EXPECT_TRUE(PartName::split("job").part.empty());
}

TEST(PartName, StandsBesideItsName) {
  EXPECT_TRUE(PartName::of("job", "once").text().starts_with("job"));
  EXPECT_LT(LockName("job"), PartName::of("job", "once"));
  EXPECT_LT(PartName::of("job", "once"), LockName("job1"));
}

}  // namespace
}  // namespace holdfast::spi
