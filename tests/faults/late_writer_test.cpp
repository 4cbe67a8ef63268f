// A holder that is stopped between its look at the hold and the write that follows from it, for longer than its lease.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/store.hpp"
#include "support/peer.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

class LateWriter : public testing::TestWithParam<StoreKind> {};

TEST_P(LateWriter, IsRefusedByTheFence) {
  const std::unique_ptr<Store> store = GetParam().make();
  const test::TemporaryDirectory directory;
  const std::string file = (directory.path() / "resource").string();
  test::ProcessPeer first(store->url());
  test::ProcessPeer second(store->url());

  ASSERT_THAT(first.ask("acquire a 500 0"), testing::StartsWith("granted"));
  ASSERT_EQ(first.ask("write a " + file), "accepted");
  first.send("write_late a " + file);
  ASSERT_TRUE(first.stops_itself());

  // For long: a busy machine may be too slow to renew half a second, and that is not the subject.
  ASSERT_THAT(second.ask("acquire a 30000 60000"), testing::StartsWith("granted"));
  ASSERT_EQ(second.ask("write a " + file), "accepted");
  first.resume();
  EXPECT_EQ(first.receive(), "refused");
  EXPECT_EQ(first.ask("valid a"), "no");
  EXPECT_EQ(first.ask("await_loss a"), "lost");
  EXPECT_EQ(first.ask("release a"), "not_held");

  EXPECT_EQ(second.ask("valid a"), "yes");
  EXPECT_EQ(second.ask("write a " + file), "accepted");
  EXPECT_EQ(second.ask("release a"), "released");
}

INSTANTIATE_TEST_SUITE_P(Store, LateWriter, testing::ValuesIn(store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::faults
