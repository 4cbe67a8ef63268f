#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/etcd/keys.hpp"

namespace holdfast::etcd {
namespace {

constexpr spi::ClaimId id = {.high = 0x0123456789abcdef, .low = 0xfedcba9876543210};
const Keys keys("prefix");

TEST(EtcdKeys, AreWhatOtherClientsExpectOfALock) {
  EXPECT_EQ(keys.line("name", LockKind::lock), "prefix/name/");
  EXPECT_EQ(keys.claim("name", ClaimMode::exclusive, id), "prefix/name/0123456789abcdeffedcba9876543210");
}

TEST(EtcdKeys, KeepThingsOfOneNameApart) {
  EXPECT_EQ(keys.claim("name", ClaimMode::shared, id), "prefix/name/~0123456789abcdeffedcba9876543210");
  EXPECT_EQ(keys.claim("name", ClaimMode::permits, id), "prefix/~permits/name/0123456789abcdeffedcba9876543210");
  EXPECT_EQ(keys.joined_mark("name"), "prefix/~permits/name");
  EXPECT_EQ(keys.register_of("name"), "prefix/~register/name");
}

TEST(EtcdKeys, OfAClaimAreInOneLineWhateverItsMode) {
  const std::vector<std::string> of_lock = {keys.claim("name", ClaimMode::exclusive, id),
                                            keys.claim("name", ClaimMode::shared, id)};
  EXPECT_EQ(keys.claims("name", LockKind::lock, id), of_lock);
  const std::vector<std::string> of_semaphore = {keys.claim("name", ClaimMode::permits, id)};
  EXPECT_EQ(keys.claims("name", LockKind::semaphore, id), of_semaphore);
  for (const LockKind kind : {LockKind::lock, LockKind::semaphore}) {
    const std::string line = keys.line("name", kind);
    for (const std::string& key : keys.claims("name", kind, id)) EXPECT_TRUE(key.starts_with(line)) << key;
  }
  const std::string line = keys.line("name", LockKind::lock);
  EXPECT_EQ(Keys::mode_in(line, of_lock[0], LockKind::lock), ClaimMode::exclusive);
  EXPECT_EQ(Keys::mode_in(line, of_lock[1], LockKind::lock), ClaimMode::shared);
}

TEST(EtcdKeys, OfExclusiveClaimsAreARangeWithoutTheSharedOnes) {
  const std::string line = keys.line("name", LockKind::lock);
  const std::string end = Keys::end_of_exclusive(line);
  EXPECT_LT(keys.claim("name", ClaimMode::exclusive, {.high = ~0ULL, .low = ~0ULL}), end);
  EXPECT_LT(line + "7ffffffffffffffff", end) << "of others";
  EXPECT_GE(keys.claim("name", ClaimMode::shared, {}), end);
  EXPECT_LT(keys.claim("name", ClaimMode::shared, id), Keys::end_of(line)) << "it is in the whole line";
}

TEST(EtcdKeys, TakeNamesApartAgain) {
  for (const std::string& name : {std::string("name"), std::string("a/b"), std::string("~tilde"), std::string("%41"),
                                  std::string("with \0 zero", 11), std::string("\xff\xfe")}) {
    for (const ClaimMode mode : {ClaimMode::exclusive, ClaimMode::shared, ClaimMode::permits}) {
      EXPECT_EQ(keys.name_in(keys.claim(name, mode, id), spi::kind_of({.kind = mode})), name);
    }
  }
}

TEST(EtcdKeys, TakeAJoinedMarkForNoClaim) { EXPECT_FALSE(keys.name_in(keys.joined_mark("name"), LockKind::semaphore)); }

TEST(EtcdKeys, OfNamesThatBeginAlikeDoNotMix) {
  EXPECT_FALSE(keys.line("a/b", LockKind::lock).starts_with(keys.line("a", LockKind::lock)));
  const auto [begin, end] = keys.range_of_lines("a", LockKind::lock);
  EXPECT_LE(begin, keys.claim("a/b", ClaimMode::exclusive, id));
  EXPECT_LT(keys.claim("a/b", ClaimMode::exclusive, id), end);
  EXPECT_GE(keys.claim("b", ClaimMode::exclusive, id), end);
}

TEST(EtcdKeys, OfAllLocksAreARangeWithoutSemaphoresAndRegisters) {
  const auto [begin, end] = keys.range_of_lines("", LockKind::lock);
  EXPECT_LT(keys.claim("zz", ClaimMode::shared, id), end);
  EXPECT_GE(keys.claim("a", ClaimMode::permits, id), end);
  EXPECT_GE(keys.register_of("a"), end);
}

TEST(EtcdKeys, EndAfterEverythingThatBeginsSo) {
  EXPECT_EQ(Keys::end_of("a/"), "a0");
  EXPECT_EQ(Keys::end_of("a\xff"), "b");
  EXPECT_EQ(Keys::end_of("\xff\xff"), std::string(1, '\0')) << "which etcd takes for the end of all keys";
}

TEST(EtcdKeys, TellTheClaimsOfOneClientFromOthers) {
  const std::string line = keys.line("name", LockKind::lock);
  const std::string mine = Keys::client_in(line, keys.claim("name", ClaimMode::exclusive, id));
  EXPECT_EQ(mine, "prefix/name/0123456789abcdef");
  EXPECT_EQ(Keys::client_in(line, keys.claim("name", ClaimMode::shared, id)), "prefix/name/~0123456789abcdef");
  EXPECT_EQ(Keys::client_in(line, line + "694d71a0c6f5bd0a"), line + "694d71a0c6f5bd0a") << "of a Go program";
}

TEST(EtcdNames, AreEncodedAndDecoded) {
  EXPECT_EQ(encode("a/b c~"), "a%2Fb%20c%7E");
  EXPECT_EQ(decode("a%2Fb%20c%7E"), "a/b c~");
  for (const std::string wrong : {"a b", "%", "%4", "%4g", "a/b", "%2f"}) EXPECT_FALSE(decode(wrong)) << wrong;
}

}  // namespace
}  // namespace holdfast::etcd
