#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "backends/etcd/record.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;

Record full() {
  Record record;
  record.mode = {ClaimMode::permits, 2, 7};
  record.keeps = true;
  record.lease = 12'345ms;
  record.since = std::chrono::system_clock::time_point(1'700'000'000'123'456us);
  record.client.id = "an id";
  record.client.host = "host.example";
  record.client.pid = 4711;
  record.client.command = "run --now\nnext line";
  record.client.label = "label with spaces";
  record.reason = "100 %";
  record.id = "0123456789abcdef0123456789abcdef";
  return record;
}

void expect_equal(const Record& one, const Record& other) {
  EXPECT_EQ(one.mode, other.mode);
  EXPECT_EQ(one.keeps, other.keeps);
  EXPECT_EQ(one.lease, other.lease);
  EXPECT_EQ(one.since, other.since);
  EXPECT_EQ(one.client.id, other.client.id);
  EXPECT_EQ(one.client.host, other.client.host);
  EXPECT_EQ(one.client.pid, other.client.pid);
  EXPECT_EQ(one.client.command, other.client.command);
  EXPECT_EQ(one.client.label, other.client.label);
  EXPECT_EQ(one.reason, other.reason);
  ASSERT_EQ(one.asked_to_release.has_value(), other.asked_to_release.has_value());
  if (!one.asked_to_release) return;
  EXPECT_EQ(one.asked_to_release->reason, other.asked_to_release->reason);
  EXPECT_EQ(one.asked_to_release->within, other.asked_to_release->within);
}

TEST(EtcdRecord, IsReadAsItWasWritten) {
  Record record = full();
  expect_equal(Record::parse(record.text()), record);
  record.asked_to_release = {"move over\nplease", 2500ms};
  expect_equal(Record::parse(record.text()), record);
  expect_equal(Record::parse(Record().text()), Record());
}

TEST(EtcdRecord, OfOthersExcludesEverybody) {
  for (const std::string text : {"", "anything", "holdfast 1", "holdfast 2\nshared\n1\n1\n-\n1\n1\na\nb\n1\nc d\ne"}) {
    const Record record = Record::parse(text);
    EXPECT_EQ(record.mode, spi::Mode{}) << text;
    EXPECT_EQ(record.lease, 0ms) << "which says that it is not ours";
  }
}

}  // namespace
}  // namespace holdfast::etcd
