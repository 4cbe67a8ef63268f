#include "base/callback.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace holdfast::base {
namespace {

/// Counts how many live copies there are of something that was put into a callback, and refuses to be copied.
class Counted {
 public:
  explicit Counted(int& live) : live_(&live) { ++*live_; }
  Counted(Counted&& other) noexcept : live_(other.live_) { ++*live_; }
  Counted& operator=(Counted&&) = delete;
  ~Counted() { --*live_; }

 private:
  int* live_;
};

/// The same cases for what fits inside a callback and for what does not.
template <std::size_t Bytes>
struct Padding {
  std::array<char, Bytes> bytes = {};
};

template <class T>
class CallbackOf : public ::testing::Test {};
using Sizes = ::testing::Types<Padding<1>, Padding<32>, Padding<41>, Padding<500>>;
TYPED_TEST_SUITE(CallbackOf, Sizes);

TYPED_TEST(CallbackOf, CallsWhatWasPutIn) {
  Callback<int(int)> callback = [padding = TypeParam(), calls = 0](int amount) mutable {
    return calls += amount + padding.bytes[0];
  };
  EXPECT_EQ(callback(2), 2);
  EXPECT_EQ(callback(3), 5);
}

TYPED_TEST(CallbackOf, DestroysItExactlyOnce) {
  int live = 0;
  {
    Task callback = [padding = TypeParam(), counted = Counted(live)] { (void)padding; };
    EXPECT_EQ(live, 1);
    callback();
    EXPECT_EQ(live, 1);
  }
  EXPECT_EQ(live, 0);
}

TYPED_TEST(CallbackOf, MovesItFromOneToAnother) {
  int live = 0;
  Task first = [padding = TypeParam(), counted = Counted(live)] { (void)padding; };
  Task second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_TRUE(second);
  EXPECT_EQ(live, 1);
  second();
  Task third;
  third = std::move(second);
  EXPECT_EQ(live, 1);
  third();
  third.reset();
  EXPECT_FALSE(third);
  EXPECT_EQ(live, 0);
}

TYPED_TEST(CallbackOf, DropsWhatItHadWhenAssigned) {
  int old_live = 0;
  int new_live = 0;
  Task callback = [padding = TypeParam(), counted = Counted(old_live)] { (void)padding; };
  callback = Task([padding = TypeParam(), counted = Counted(new_live)] { (void)padding; });
  EXPECT_EQ(old_live, 0);
  EXPECT_EQ(new_live, 1);
  Task& same = callback;
  callback = std::move(same);
  EXPECT_TRUE(callback);
  EXPECT_EQ(new_live, 1);
}

TEST(Callback, IsEmptyAtFirst) {
  Task callback;
  EXPECT_FALSE(callback);
  callback.reset();
  const Task moved = std::move(callback);
  EXPECT_FALSE(moved);
}

TEST(Callback, PassesArgumentsThatCanOnlyBeMoved) {
  Callback<std::string(std::unique_ptr<std::string>)> callback = [](std::unique_ptr<std::string> text) {
    return std::move(*text);
  };
  EXPECT_EQ(callback(std::make_unique<std::string>("through")), "through");
}

TEST(Callback, PassesReferences) {
  Callback<void(int&)> callback = [](int& value) { ++value; };
  int value = 1;
  callback(value);
  EXPECT_EQ(value, 2);
}

TEST(Callback, HoldsAnotherCallback) {
  int calls = 0;
  Task inner = [&calls] { ++calls; };
  Task outer = [inner = std::move(inner)]() mutable { inner(); };
  outer();
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace holdfast::base
