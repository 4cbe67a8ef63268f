#include <gtest/gtest.h>

#include <set>
#include <string>

#include "backends/redis/layouts/keys.hpp"

namespace holdfast::redis {
namespace {

TEST(RedisKeys, LeaveSimpleNamesAsTheyAre) {
  EXPECT_EQ(Keys::encode("invoices/2024.a-b_c"), "invoices/2024.a-b_c");
  EXPECT_EQ(Keys::encode("\xc3\xa4"), "\xc3\xa4");
}

TEST(RedisKeys, EncodeWhatIsSpecialAndDecodeItAgain) {
  EXPECT_EQ(Keys::encode("{a}:b%*"), "%7ba%7d%3ab%25%2a");
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::string encoded = Keys::encode(every_byte);
  EXPECT_EQ(encoded.find_first_of("{}:*?[]\\^ \r\n"), std::string::npos);
  EXPECT_EQ(encoded.find('\0'), std::string::npos);
  EXPECT_EQ(Keys::decode(encoded), every_byte);
}

TEST(RedisKeys, EncodePrefixesAsPrefixes) {
  const std::string name = "a{b\xc3\xa4:c";
  for (std::size_t length = 0; length <= name.size(); ++length) {
    EXPECT_TRUE(Keys::encode(name).starts_with(Keys::encode(name.substr(0, length)))) << length;
  }
}

TEST(RedisKeys, OfOneNameLieInOneSlotAndDiffer) {
  const Keys keys("holdfast");
  const auto tag_of = [](const std::string& key) { return key.substr(0, key.find('}') + 1); };
  const LineKeys lock = keys.line("name", LockKind::lock);
  const LineKeys pool = keys.line("name", LockKind::semaphore);
  std::set<std::string> all;
  for (const std::string& key : {lock.line, lock.claims, lock.order, lock.counter, pool.line, pool.claims, pool.order,
                                 pool.counter, keys.register_of("name")}) {
    EXPECT_EQ(tag_of(key), tag_of(lock.line)) << key;
    all.insert(key);
  }
  EXPECT_EQ(all.size(), 8U) << "only the counter is the same";
}

TEST(RedisKeys, AreThoseThatOtherVersionsUse) {
  const Keys keys("holdfast");
  EXPECT_EQ(keys.line("a b", LockKind::lock).line, "holdfast:{b8}:l:a%20b");
  EXPECT_EQ(keys.line("a b", LockKind::semaphore).order, "holdfast:{b8}:po:a%20b");
  EXPECT_EQ(keys.line("a b", LockKind::semaphore).counter, "holdfast:{b8}:n");
  EXPECT_EQ(keys.register_of("a b"), "holdfast:{b8}:r:a%20b");
  EXPECT_EQ(keys.channel_of("0123"), "holdfast:client:0123");
  EXPECT_EQ(keys.pattern("a*"), "holdfast:{*}:[lp]:a%2a*");
}

TEST(RedisKeys, OfTheLayoutPlainAreTheNameItselfAndOurOwn) {
  const Keys keys("holdfast");
  const PlainKeys lock = keys.plain("a b");
  EXPECT_EQ(lock.lock, "a b");
  EXPECT_EQ(lock.holder, "holdfast:{b8}:h:a%20b");
  EXPECT_EQ(lock.waiters, "holdfast:{b8}:w:a%20b");
  EXPECT_EQ(lock.counter, keys.line("a b", LockKind::lock).counter) << "tokens rise also from one layout to the other";
}

TEST(RedisKeys, OfOursAreNoNamesInTheLayoutPlain) {
  const Keys keys("holdfast");
  EXPECT_FALSE(keys.why_taken("name"));
  EXPECT_FALSE(keys.why_taken("holdfast"));
  EXPECT_FALSE(keys.why_taken("holdfast:name"));
  for (const std::string& key : {keys.line("x", LockKind::lock).line, keys.line("x", LockKind::semaphore).counter,
                                 keys.register_of("x"), keys.plain("x").holder, keys.plain("x").waiters}) {
    ASSERT_TRUE(keys.why_taken(key)) << key;
    EXPECT_EQ(keys.why_taken(key)->code, Errc::invalid_argument);
  }
}

TEST(RedisKeys, AreReadBack) {
  const Keys keys("app:locks");
  const std::string name = std::string("a:{p}:b") + '\0' + "part";
  EXPECT_EQ(Keys::parse(keys.line(name, LockKind::lock).line).name, name);
  EXPECT_EQ(Keys::parse(keys.line(name, LockKind::lock).line).kind, LockKind::lock);
  EXPECT_EQ(Keys::parse(keys.line(name, LockKind::semaphore).line).kind, LockKind::semaphore);
  EXPECT_EQ(Keys::parse(keys.register_of(name)).name, name);
}

TEST(RedisKeys, AreSpreadOverTheBuckets) {
  const Keys keys("holdfast");
  std::set<std::string> counters;
  for (int i = 0; i < 5000; ++i) counters.insert(keys.line("job-" + std::to_string(i), LockKind::lock).counter);
  EXPECT_EQ(counters.size(), 256U);
}

}  // namespace
}  // namespace holdfast::redis
