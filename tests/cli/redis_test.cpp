// The tool on Redis: what it does not do on every server.

#include <gmock/gmock.h>

#include <string>

#include "cli/tool.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

Finished at(const std::string& url, std::vector<std::string> arguments) {
  return run(tool(std::move(arguments)), {.environment = {"HOLDFAST_URL=" + url}});
}

TEST(ToolOnRedis, ShowsAndBreaksAPlainLockAndListsNone) {
  const RedisServer server;
  const std::string url = server.url() + "?layout=plain";
  Process holder(tool({"run", "job", "--", "sleep", "60"}), {.environment = {"HOLDFAST_URL=" + url}});
  ASSERT_TRUE(eventually([&] { return at(url, {"show", "job"}).output.find("sleep") != std::string::npos; }));
  const Finished listed = at(url, {"ls"});
  EXPECT_EQ(listed.code, 78);
  EXPECT_THAT(listed.errors, HasSubstr("shows one by name"));
  EXPECT_THAT(at(url, {"break", "job"}).errors, HasSubstr("cannot tell a holder"));
  const Finished broken = at(url, {"break", "job", "--yes"});
  EXPECT_EQ(broken.code, 0);
  EXPECT_THAT(broken.errors, HasSubstr("cannot tell a holder"));
  EXPECT_EQ(holder.finish().code, 79);
}

TEST(ToolOnRedis, BreaksALockOfALineWithoutAWarning) {
  const RedisServer server;
  Process holder(tool({"run", "job", "--", "sleep", "60"}), {.environment = {"HOLDFAST_URL=" + server.url()}});
  ASSERT_TRUE(eventually([&] { return at(server.url(), {"show", "job"}).output.find("sleep") != std::string::npos; }));
  EXPECT_EQ(at(server.url(), {"break", "job", "--yes"}).errors, "");
  EXPECT_EQ(holder.finish().code, 79);
}

TEST(ToolOnRedis, KnowsWhatThePlainLayoutPromises) {
  const RedisServer server;
  const Finished finished = run(tool({"version", "--url", server.url() + "?layout=plain"}));
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("listing:    none"));
}

TEST(ToolOnRedis, WarnsAboutAServerThatThrowsLocksAway) {
  const RedisServer careless({.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}});
  const Finished finished = at(careless.url(), {"run", "job", "--", "echo", "done"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output, "done\n");
  EXPECT_THAT(finished.errors, HasSubstr("warning: "));
  EXPECT_THAT(finished.errors, HasSubstr("noeviction"));
}

}  // namespace
}  // namespace holdfast::test
