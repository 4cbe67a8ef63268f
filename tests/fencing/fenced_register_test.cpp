#include "holdfast/fenced_register.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "holdfast/mutex.hpp"
#include "support/errors.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::fencing {
namespace {

class FencedRegisterTest : public testing::TestWithParam<const char*> {
 protected:
  const test::TemporaryDirectory directory_{test::memory_directory()};
  const std::string url_ =
      GetParam() == std::string("memory") ? "memory:fencing" : "sqlite:" + (directory_.path() / "store.db").string();
  Client client_{url_};
  FencedRegister register_{client_, "position"};
};

TEST_P(FencedRegisterTest, HoldsNothingAtFirst) {
  const FencedValue nothing = register_.get();
  EXPECT_EQ(nothing.value, "");
  EXPECT_EQ(nothing.token, Token());
  EXPECT_EQ(nothing.version, 0U);
}

TEST_P(FencedRegisterTest, KeepsTheTokenWithTheValue) {
  EXPECT_TRUE(register_.set("first", Token(5)));
  const FencedValue first = register_.get();
  EXPECT_EQ(first.value, "first");
  EXPECT_EQ(first.token, Token(5));
  EXPECT_FALSE(register_.set("late", Token(4)));
  EXPECT_EQ(register_.get().version, first.version);
  EXPECT_TRUE(register_.set("again", Token(5)));
  EXPECT_GT(register_.get().version, first.version);
}

TEST_P(FencedRegisterTest, KeepsAnyBytes) {
  const std::string bytes("12\n\0\xff 7\n", 8);
  EXPECT_TRUE(register_.set(bytes, Token(UINT64_MAX)));
  EXPECT_EQ(register_.get().value, bytes);
  EXPECT_EQ(register_.get().token, Token(UINT64_MAX));
  EXPECT_TRUE(register_.set("", Token(UINT64_MAX)));
  EXPECT_EQ(register_.get().value, "");
}

TEST_P(FencedRegisterTest, IsSeenByOtherClients) {
  EXPECT_TRUE(register_.set("first", Token(5)));
  Client other(url_);
  FencedRegister same(other, "position");
  EXPECT_FALSE(same.set("late", Token(4)));
  EXPECT_TRUE(same.set("second", Token(6)));
  EXPECT_EQ(register_.get().value, "second");
}

TEST_P(FencedRegisterTest, RefusesALateHolder) {
  Mutex mutex(client_, "position");
  Hold first = mutex.acquire();
  EXPECT_TRUE(register_.set("by the first", first.token()));
  static_cast<void>(first.release());
  const Hold second = mutex.acquire();
  EXPECT_TRUE(register_.set("by the second", second.token()));
  EXPECT_FALSE(register_.set("by the first, too late", first.token()));
  EXPECT_EQ(register_.get().value, "by the second");
}

TEST_P(FencedRegisterTest, ReportsAValueWithoutAToken) {
  Register plain(client_, "position");
  for (const char* const damaged :
       {"", "5", "no number\nvalue", "\nvalue", "-5\nvalue", " 5\nvalue", "5 \nvalue", "18446744073709551616\nvalue"}) {
    plain.set(damaged);
    EXPECT_EQ(test::errc_of([&] { register_.get(); }), Errc::store_failed) << damaged;
    EXPECT_EQ(test::errc_of([&] { static_cast<void>(register_.set("new", Token(UINT64_MAX))); }), Errc::store_failed);
    EXPECT_EQ(plain.get().value, damaged);
  }
}

INSTANTIATE_TEST_SUITE_P(On, FencedRegisterTest, testing::Values("memory", "sqlite"),
                         [](const auto& store) { return std::string(store.param); });

}  // namespace
}  // namespace holdfast::fencing
