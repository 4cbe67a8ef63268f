#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "backends/zookeeper/record.hpp"

namespace holdfast::zookeeper {
namespace {

using namespace std::chrono_literals;

TEST(ZookeeperRecord, ComesBackAsItWas) {
  Record record;
  record.client = {.id = "id", .host = "h=1", .pid = 42, .command = "a\nb", .label = "100 %0A"};
  record.reason = "line one\nline two\n";
  record.lease = 1500ms;
  record.asked = ReleaseRequest{"please\n", 30s};
  const Record read = Record::from(record.text());
  EXPECT_EQ(read.client.id, "id");
  EXPECT_EQ(read.client.host, "h=1");
  EXPECT_EQ(read.client.pid, 42);
  EXPECT_EQ(read.client.command, "a\nb");
  EXPECT_EQ(read.client.label, "100 %0A");
  EXPECT_EQ(read.reason, record.reason);
  EXPECT_EQ(read.lease, 1500ms);
  ASSERT_TRUE(read.asked);
  EXPECT_EQ(read.asked->reason, "please\n");
  EXPECT_EQ(read.asked->within, 30s);
}

TEST(ZookeeperRecord, WithoutARequestThereIsNone) {
  const Record read = Record::from(Record().text());
  EXPECT_FALSE(read.asked);
  EXPECT_EQ(read.reason, "");
}

TEST(ZookeeperRecord, WhatOthersWriteIsTheirAddress) {
  EXPECT_EQ(Record::from("192.168.0.7").client.host, "192.168.0.7");
  EXPECT_EQ(Record::from(std::string(1000, 'x')).client.host.size(), 255U);
  EXPECT_EQ(Record::from("").client.host, "");
  EXPECT_FALSE(Record::is_ours("holdfast 2\n"));
}

TEST(ZookeeperRecord, CuratorsWayToAskIsUnderstood) {
  const Record read = Record::from(revoke_message);
  ASSERT_TRUE(read.asked);
  EXPECT_EQ(read.asked->reason, "");
  EXPECT_EQ(read.client.host, "");
}

TEST(ZookeeperRecord, BrokenLinesHurtNobody) {
  const Record read = Record::from("holdfast 1\nno equals\n=\npid=x\nlease=\nasked-reason=too early\nhost=h");
  EXPECT_EQ(read.client.host, "h") << "even without its end";
  EXPECT_EQ(read.client.pid, 0);
  EXPECT_FALSE(read.asked);
}

TEST(ZookeeperRecord, WhatIsNotWellEncodedStandsAsItIs) {
  EXPECT_EQ(Record::from("holdfast 1\nreason=100 %, or 50 %2\n").reason, "100 %, or 50 %2");
}

}  // namespace
}  // namespace holdfast::zookeeper
