#include <gtest/gtest.h>

#include "backends/etcd/key_slots.hpp"

namespace holdfast::etcd {
namespace {

const LockName name("name");
constexpr std::uint64_t client = 77;

ClaimKey claim(std::uint64_t id, LockKind kind = LockKind::lock) { return {name, kind, {0, id}}; }
spi::ClaimId slot(std::uint64_t number) { return {client, number}; }

TEST(EtcdKeySlots, AreUsedAgain) {
  KeySlots slots(client);
  EXPECT_FALSE(slots.find(claim(1)));
  EXPECT_EQ(slots.of(claim(1)), slot(0));
  EXPECT_EQ(slots.of(claim(2)), slot(1));
  EXPECT_EQ(slots.of(claim(1)), slot(0)) << "it has one";
  slots.free(claim(1));
  EXPECT_FALSE(slots.find(claim(1)));
  EXPECT_EQ(slots.of(claim(3)), slot(0));
  EXPECT_EQ(slots.find(claim(2)), slot(1));
}

TEST(EtcdKeySlots, AreNotUsedAgainAfterADoubt) {
  KeySlots slots(client);
  EXPECT_EQ(slots.of(claim(1)), slot(0));
  slots.doubt(claim(1));
  slots.free(claim(1));
  EXPECT_FALSE(slots.find(claim(1)));
  EXPECT_EQ(slots.of(claim(2)), slot(1));
}

TEST(EtcdKeySlots, OfTheTwoLinesOfANameHaveNothingToDoWithEachOther) {
  KeySlots slots(client);
  EXPECT_EQ(slots.of(claim(1)), slot(0));
  EXPECT_FALSE(slots.find(claim(1, LockKind::semaphore)));
  slots.free(claim(1, LockKind::semaphore));
  EXPECT_EQ(slots.of(claim(2)), slot(1));
  EXPECT_EQ(slots.of(claim(2, LockKind::semaphore)), slot(0));
  slots.free(claim(2));
  EXPECT_EQ(slots.find(claim(2, LockKind::semaphore)), slot(0));
}

}  // namespace
}  // namespace holdfast::etcd
