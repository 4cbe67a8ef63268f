#include <gtest/gtest.h>

#include <array>
#include <string>

#include "backends/redis/layouts/queue_scripts.hpp"
#include "backends/redis/protocol/command.hpp"
#include "backends/redis/protocol/script.hpp"

namespace holdfast::redis {
namespace {

TEST(RedisScript, HasTheDigestOfItsText) {
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1(std::string(1000000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
  EXPECT_EQ(Script({"ab", "c"}).digest(), sha1("abc"));
}

TEST(RedisScript, SaysItsConstantsByName) {
  constexpr auto constants = std::to_array<Script::Constant>({{"at", "17"}, {"at_end", "'x'"}});
  EXPECT_EQ(Script({"$at", " $at_end+$at $other"}, constants).text(), "17 'x'+17 $other");
  EXPECT_EQ(Script({"$"}, constants).text(), "$");
}

TEST(RedisScript, OfTheLayoutQueueLeavesNoNameUnexplained) {
  for (const Script* script : {&claim_script(), &renew_script(), &downgrade_script()}) {
    EXPECT_EQ(script->text().find('$'), std::string::npos) << script->text();
  }
}

TEST(RedisCommand, IsWrittenAsTheServerReadsIt) {
  std::string out;
  Command().add("SET").add(std::string_view("a\0b", 3)).add(-7).write_to(out);
  EXPECT_EQ(out, std::string("*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$2\r\n-7\r\n", 30));
}

TEST(RedisCommand, NamesAScriptByDigestOrText) {
  const Script script({"return 1"});
  Command command;
  command.add(1).add("key");
  std::string out;
  command.write_to(out, script, Command::As::text);
  EXPECT_EQ(out, "*4\r\n$4\r\nEVAL\r\n$8\r\nreturn 1\r\n$1\r\n1\r\n$3\r\nkey\r\n");
  out.clear();
  command.write_to(out, script, Command::As::digest);
  EXPECT_EQ(out, "*4\r\n$7\r\nEVALSHA\r\n$40\r\n" + script.digest() + "\r\n$1\r\n1\r\n$3\r\nkey\r\n");
}

}  // namespace
}  // namespace holdfast::redis
