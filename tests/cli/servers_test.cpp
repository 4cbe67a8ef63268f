// The tool on each store that has a server: every command that meets the store does what it does on the embedded one.

#include <gmock/gmock.h>
#include <signal.h>

#include <functional>
#include <memory>
#include <string>

#include "cli/tool.hpp"
#include "support/etcd_server.hpp"
#include "support/redis_server.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A server of any kind.
struct Servers {
  std::string url;
  std::function<void()> stop;
  std::shared_ptr<void> running;
};

template <class Server>
Servers start() {
  const auto server = std::make_shared<Server>();
  return {server->url(), [server] { server->stop(); }, server};
}

struct Kind {
  std::string name;
  Servers (*start)();
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ToolOnAServer : public testing::TestWithParam<Kind> {
 protected:
  /// The tool has gRPC inside: LeakSanitizer, where there is one, must know (support/grpc_leaks.cpp).
  Start with_store() const { return {.environment = {"HOLDFAST_URL=" + servers.url, "LSAN_OPTIONS=use_tls=0"}}; }
  Finished holdfast(std::vector<std::string> arguments) const { return run(tool(std::move(arguments)), with_store()); }
  bool shows(const std::string& name, const std::string& text) const {
    return eventually([&] { return holdfast({"show", name}).output.find(text) != std::string::npos; });
  }

  const Servers servers = GetParam().start();
};

TEST_P(ToolOnAServer, LooksAtALockAndBreaksIt) {
  Process holder(tool({"run", "job", "--reason", "nightly", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("job", "nightly"));
  Process waiter(tool({"run", "job", "--reason", "weekly", "--", "echo", "next"}), with_store());
  ASSERT_TRUE(shows("job", "weekly"));
  EXPECT_THAT(holdfast({"ls"}).output, HasSubstr("job"));
  EXPECT_EQ(holdfast({"run", "job", "--try", "--", "true"}).code, 75);
  EXPECT_EQ(holdfast({"break", "job", "--yes"}).code, 0);
  EXPECT_EQ(holder.finish().code, 79);
  EXPECT_EQ(waiter.finish().output, "next\n");
  EXPECT_THAT(holdfast({"ls"}).output, Not(HasSubstr("job")));
}

TEST_P(ToolOnAServer, TellsWhatHappens) {
  Process watching(tool({"watch"}), with_store());
  ASSERT_TRUE(eventually([&] { return watching.errors().find("watching") != std::string::npos; }));
  Process holder(tool({"run", "job", "--", "sleep", "60"}), with_store());
  EXPECT_TRUE(eventually([&] { return watching.output().find("acquired") != std::string::npos; })) << watching.output();
  holder.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return watching.output().find("released") != std::string::npos; })) << watching.output();
  EXPECT_EQ(holder.finish().code, 128 + SIGTERM);
}

TEST_P(ToolOnAServer, SharesAndCounts) {
  Process reader(tool({"run", "list", "--shared", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("list", "sleep"));
  EXPECT_EQ(holdfast({"run", "list", "--shared", "--try", "--", "true"}).code, 0);
  EXPECT_EQ(holdfast({"run", "list", "--try", "--", "true"}).code, 75);
  Process one(tool({"run", "pool", "--permits", "1/2", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("pool", "sleep"));
  EXPECT_EQ(holdfast({"run", "pool", "--permits", "1/2", "--try", "--", "true"}).code, 0);
  EXPECT_EQ(holdfast({"run", "pool", "--permits", "2/2", "--try", "--", "true"}).code, 75);
}

TEST_P(ToolOnAServer, KeepsValuesAndKnowsLeaders) {
  EXPECT_EQ(holdfast({"value", "set", "x", "one"}).code, 0);
  EXPECT_THAT(holdfast({"value", "get", "x"}).output, HasSubstr("one"));
  EXPECT_EQ(holdfast({"leader", "scheduler"}).code, 75);
  Process leader(tool({"elect", "scheduler", "--value", "host-7", "--", "sleep", "60"}), with_store());
  EXPECT_TRUE(eventually([&] { return holdfast({"leader", "scheduler"}).output == "host-7\n"; }));
  EXPECT_EQ(holdfast({"run", "daily", "--once-per", "1h", "--", "echo", "ran"}).output, "ran\n");
  EXPECT_EQ(holdfast({"run", "daily", "--once-per", "1h", "--", "echo", "ran"}).output, "");
}

TEST_P(ToolOnAServer, SaysThatTheServerIsGone) {
  const std::string port = servers.url.substr(servers.url.rfind(':') + 1);
  servers.stop();
  for (const auto& arguments : {std::vector<std::string>{"ls"}, {"run", "job", "--", "echo", "ran"}}) {
    const Finished finished = holdfast(arguments);
    EXPECT_EQ(finished.code, 69);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr(port));
  }
}

INSTANTIATE_TEST_SUITE_P(Store, ToolOnAServer,
                         testing::Values(Kind{"redis", start<RedisServer>}, Kind{"etcd", start<EtcdServer>},
                                         Kind{"zookeeper", start<ZookeeperServer>}),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::test
