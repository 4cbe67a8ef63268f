#include <gtest/gtest.h>

#include <string>

#include "backends/redis/protocol/failures.hpp"
#include "support/errors.hpp"

namespace holdfast::redis {
namespace {

const std::string server = "redis at db:6379";

TEST(RedisFailures, TellWhatToDo) {
  struct Case {
    const char* complaint;
    Errc code;
    const char* hint;
  };
  for (const auto& [complaint, code, hint] :
       {Case{"NOAUTH Authentication required.", Errc::access_denied, "password"},
        {"NOPERM this user has no permissions to run the 'eval' command", Errc::access_denied, "docs/backends"},
        {"ERR The user executing the script can't run this command or subcommand script: 13b6b0749e4ae2372671571d",
         Errc::access_denied, "docs/backends"},
        {"OOM command not allowed when used memory > 'maxmemory'.", Errc::exhausted, "maxmemory"},
        {"MISCONF Redis is configured to save RDB snapshots", Errc::exhausted, "disk"},
        {"READONLY You can't write against a read only replica.", Errc::unreachable, "primary"},
        {"LOADING Redis is loading the dataset in memory", Errc::unreachable, "loading"},
        {"BUSY Redis is busy running a script.", Errc::unreachable, "script"},
        {"MASTERDOWN Connection with MASTER is down", Errc::unreachable, "primary"},
        {"MOVED 3999 127.0.0.1:6381", Errc::unsupported, "cluster"},
        {"WRONGTYPE Operation against a key", Errc::store_failed, "prefix"},
        {"ERR max number of clients reached", Errc::exhausted, "maxclients"},
        {"ERR something new", Errc::store_failed, "something new"}}) {
    const spi::Failure failure = explain(complaint, server);
    EXPECT_EQ(failure.code, code) << complaint;
    EXPECT_NE(failure.detail.find(hint), std::string::npos) << failure.detail;
    EXPECT_NE(failure.detail.find("redis at db:6379"), std::string::npos) << failure.detail;
  }
}

TEST(RedisFailures, NeverRepeatWhatWasSent) {
  const std::string unknown = "ERR unknown command 'AUTH', with args beginning with: 'ann' 'hunter2'";
  EXPECT_EQ(explain(unknown, server).detail.find("hunter2"), std::string::npos);
  for (const std::string& complaint : {unknown, std::string("ERR odd hunter2"), std::string("WRONGPASS hunter2")}) {
    const spi::Failure failure = explain_greeting(complaint, server);
    EXPECT_EQ(failure.code, Errc::access_denied);
    EXPECT_EQ(failure.detail.find("hunter2"), std::string::npos) << failure.detail;
    EXPECT_EQ(failure.detail.find("ann"), std::string::npos) << failure.detail;
  }
}

}  // namespace
}  // namespace holdfast::redis
