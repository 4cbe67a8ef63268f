// A holder that is stopped between its look at the hold and the write that follows from it, for longer than its lease.

#include <gtest/gtest.h>

#include "faults/sqlite_store.hpp"
#include "support/peer.hpp"

namespace holdfast::faults {
namespace {

TEST(LateWriter, IsRefusedByTheFence) {
  const SqliteStore store;
  const std::string file = (store.directory() / "resource").string();
  test::ProcessPeer first(store.url());
  test::ProcessPeer second(store.url());

  ASSERT_THAT(first.ask("acquire a 500 0"), testing::StartsWith("granted"));
  ASSERT_EQ(first.ask("write a " + file), "accepted");
  first.send("write_late a " + file);
  ASSERT_TRUE(first.stops_itself());

  ASSERT_THAT(second.ask("acquire a 500 15000"), testing::StartsWith("granted"));
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

}  // namespace
}  // namespace holdfast::faults
