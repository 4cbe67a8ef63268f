#include "base/lifetime.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace holdfast::base {
namespace {

TEST(Lifetime, LastsAsLongAsItsOwner) {
  std::optional<Lifetime> lifetime(std::in_place);
  const Lifetime::Watch first = lifetime->watch();
  const Lifetime::Watch second = first;
  EXPECT_TRUE(first.lasts());
  EXPECT_TRUE(second.lasts());
  lifetime.reset();
  EXPECT_FALSE(first.lasts());
  EXPECT_FALSE(second.lasts());
}

TEST(Lifetime, MayBeEndedEarlier) {
  Lifetime lifetime;
  const Lifetime::Watch before = lifetime.watch();
  lifetime.end();
  EXPECT_FALSE(before.lasts());
  EXPECT_FALSE(lifetime.watch().lasts());
  lifetime.end();
}

}  // namespace
}  // namespace holdfast::base
