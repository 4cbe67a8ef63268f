// An etcd server that has thrown its history away while nobody was connected: those who come back cannot be told what
// happened meanwhile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/etcd_store.hpp"
#include "faults/line.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::HasSubstr;

/// With leases so long that no look by the way can explain what happens soon.
class EtcdCompaction : public testing::Test {
 protected:
  void SetUp() override {
    token_ = token_in(holder_.ask("acquire a " + long_lease));
    ASSERT_GT(token_, 0U);
    waiter_.send("acquire a " + long_lease);
    ASSERT_TRUE(line_becomes(client_, "a", 1));
  }

  void expect_history_is_gone(long long revision) {
    EXPECT_THAT(store_.server().command({"get", "a", "--rev=" + std::to_string(revision)}), HasSubstr("compacted"));
  }

  const std::string long_lease = "60000 60000";
  EtcdStore store_;
  const Client client_{store_.direct_url()};
  ProcessPeer holder_{store_.direct_url()};  // goes on undisturbed
  ProcessPeer waiter_{store_.url()};         // through the proxy
  std::uint64_t token_ = 0;
};

TEST_F(EtcdCompaction, DuringAWatchHarmsNobody) {
  const long long revision = store_.server().revision();
  ASSERT_GT(store_.do_harm(Sabotage::compact, 0ms), 0U);
  expect_history_is_gone(revision);
  EXPECT_TRUE(waits(waiter_));
  EXPECT_EQ(holder_.ask("release a"), "released");
  EXPECT_GT(token_in(waiter_.receive(5s).value_or("no answer")), token_);
}

TEST_F(EtcdCompaction, OfTheReleaseItselfIsFoundOutByTheWaiter) {
  store_.proxy().be_silent(true);
  ASSERT_GT(store_.proxy().reset(), 0U);
  const long long revision = store_.server().revision();
  ASSERT_EQ(holder_.ask("release a"), "released");
  for (int i = 0; i < 3; ++i) store_.server().command({"put", "elsewhere", "news"});
  store_.server().command({"compact", std::to_string(store_.server().revision())});
  expect_history_is_gone(revision);
  EXPECT_TRUE(waits(waiter_)) << "it cannot have heard";
  store_.proxy().be_silent(false);
  EXPECT_GT(token_in(waiter_.receive(5s).value_or("no answer")), token_);
}

}  // namespace
}  // namespace holdfast::faults
