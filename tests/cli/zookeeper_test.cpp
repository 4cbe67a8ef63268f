// The tool on ZooKeeper: what it does not do on every server.

#include <gtest/gtest.h>

#include "cli/tool.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::test {
namespace {

/// A server as it is usually set has ticks of 2 s, and gives no session that is shorter than two of them.
TEST(ToolOnZookeeper, SaysThatTheLeaseIsAsLongAsTheShortestSession) {
  const ZookeeperServer server(2000);
  const Start start = {.environment = {"HOLDFAST_URL=" + server.url(), known_leaks()}};
  const Finished finished = run(tool({"run", "job", "--ttl", "1s", "--", "true"}), start);
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_EQ(finished.errors, "holdfast: the lease of 'job' is 4s, because the store does not grant one of 1s\n");
}

}  // namespace
}  // namespace holdfast::test
