#include "cli/secrets.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "cli/store.hpp"
#include "cli/world.hpp"
#include "support/forked_child.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using cli::without_password;

TEST(Secrets, AreTakenOutOfUrls) {
  EXPECT_EQ(without_password("redis://user:pw@host:6379/0"), "redis://user@host:6379/0");
  EXPECT_EQ(without_password("redis://:pw@host"), "redis://host");
  EXPECT_EQ(without_password("redis://user:p@/:w@host/0"), "redis://user@host/0");
  EXPECT_EQ(without_password("redis://h:1?password=pw&layout=queue&secret=x"), "redis://h:1?layout=queue");
  EXPECT_EQ(without_password("redis://u:pw@h?password=pw"), "redis://u@h");
}

TEST(Secrets, LeaveOtherUrlsAlone) {
  for (const char* url : {"memory:", "memory:name", "sqlite:/a/b@c:d.db", "redis://host:6379/0?layout=plain&n=1",
                          "redis://user@host:1", "etcd://h1:1,h2:2"}) {
    EXPECT_EQ(without_password(url), url);
  }
}

TEST(Secrets, AreOverwrittenInTheArguments) {
  std::vector<std::string> words{"holdfast", "run", "--url=redis://u:canary@h", "redis://h?password=canary&a=b", "x",
                                 "--",       "cmd", "redis://u:canary@h"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  cli::hide_passwords(arguments);
  EXPECT_EQ(words[2], "--url=redis://u:******@h");
  EXPECT_EQ(words[3], "redis://h?password=******&a=b");
  EXPECT_EQ(words[7], "redis://u:canary@h") << "that is the command's own";
}

TEST(Secrets, KeepMemoryOutOfCoreDumps) {
  EXPECT_TRUE(succeeds_in_forked_child([](ChildReport& report) {
    ::prctl(PR_SET_DUMPABLE, 1);
    cli::choose_store({.url = "redis://user@host"});
    report.expect(::prctl(PR_GET_DUMPABLE) == 1, "without a password there is nothing to hide");
    cli::choose_store({.url = "redis://user:canary@host"});
    report.expect(::prctl(PR_GET_DUMPABLE) == 0, "the memory with the password can be dumped");
  }));
}

/// Even if the store has no use for it: it lies in the environment, which is memory.
TEST(Secrets, OfTheEnvironmentKeepMemoryOutOfCoreDumps) {
  EXPECT_TRUE(succeeds_in_forked_child([](ChildReport& report) {
    ::setenv("HOLDFAST_PASSWORD", "canary", 1);
    for (const char* url : {"redis://user@host", "redis://host?secret=x", "sqlite:/x.db", "memory:"}) {
      ::prctl(PR_SET_DUMPABLE, 1);
      cli::choose_store({.url = url});
      report.expect(::prctl(PR_GET_DUMPABLE) == 0, "the memory with the password can be dumped");
    }
    ::setenv("HOLDFAST_PASSWORD", "", 1);
    ::prctl(PR_SET_DUMPABLE, 1);
    cli::choose_store({.url = "redis://user@host"});
    report.expect(::prctl(PR_GET_DUMPABLE) == 1, "without a password there is nothing to hide");
  }));
}

class SecretsOfTheTool : public World {};

TEST_F(SecretsOfTheTool, AppearNowhere) {
  const RedisServer server({.arguments = {"--requirepass", "canary"}, .password = "canary"});
  const std::string place = "127.0.0.1:" + server.port();
  Process holder(tool({"run", "x", "-u", "redis://default:canary@" + place, "--", "sh", "-c",
                       "env; echo $$ >'" + folder.string() + "/pid'; sleep 60"}),
                 {.environment = {"HOLDFAST_PASSWORD=canary"}});
  const pid_t command = pid_in("pid");
  for (const pid_t pid : {holder.pid(), children_of(holder.pid()).at(0), command}) {
    const std::string shown = read_file("/proc/" + std::to_string(pid) + "/cmdline");
    EXPECT_FALSE(shown.empty());
    EXPECT_EQ(shown.find("canary"), std::string::npos) << shown;
  }
  EXPECT_EQ(read_file("/proc/" + std::to_string(command) + "/environ").find("canary"), std::string::npos);
  EXPECT_NE(holder.output().find("HOLDFAST_URL=redis://default@" + place + "\n"), std::string::npos) << holder.output();
  EXPECT_EQ(holder.output().find("canary"), std::string::npos) << holder.output();
}

TEST_F(SecretsOfTheTool, AppearInNoError) {
  const std::vector<std::vector<std::string>> mistakes{{"ls", "-u", "nosuchstore://user:canary@host"},
                                                       {"ls", "-u", "sqlite://user:canary@host?x=canary"},
                                                       {"ls", "-u", "://user:canary@host"},
                                                       {"ls", "-u", "memory:x?password=canary"},
                                                       {"redis://user:canary@host"},
                                                       {"--ulr", "redis://user:canary@host", "ls"},
                                                       {"--ulr=redis://user:canary@host", "ls"},
                                                       {"--url", "redis://user:canary@host", "lss"},
                                                       {"ls", "--ulr", "redis://user:canary@host"},
                                                       {"ls", "--ulr=redis://user:canary@host"},
                                                       {"ls", "a", "redis://user:canary@host"},
                                                       {"run", "x", "redis://u:canary@host", "--", "true"}};
  for (const auto& mistake : mistakes) {
    const Finished finished = run(tool(mistake), {.environment = {"HOLDFAST_PASSWORD=canary"}});
    EXPECT_NE(finished.code, 0);
    EXPECT_FALSE(finished.errors.empty());
    EXPECT_EQ(finished.errors.find("canary"), std::string::npos) << finished.errors;
    EXPECT_EQ(finished.output, "");
  }
}

}  // namespace
}  // namespace holdfast::test
