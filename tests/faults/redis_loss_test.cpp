// A Redis server that loses its data, or only its process, while somebody holds a lock and somebody waits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/line.hpp"
#include "faults/redis_store.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::SizeIs;
using testing::StartsWith;

/// A holder and a waiter with leases so long that nothing here can be explained by their end.
class RedisLoss : public testing::TestWithParam<RedisStore::Layout> {
 protected:
  static constexpr auto lease = 12s;
  static constexpr auto renewal_and_patience = lease / 3 + 1s;

  void SetUp() override {
    token_ = token_in(holder_.ask("acquire a " + long_lease));
    ASSERT_GT(token_, 0U);
    ASSERT_EQ(holder_.ask("write a " + file_), "accepted");
    line_ = line_of(store_.url(), client_, 1, long_lease);
    ASSERT_THAT(line_, SizeIs(1));
  }

  /// The waiter is served, the holder is told by its next renewal, and tokens keep them apart.
  void expect_loss() {
    holder_.send("await_loss a");
    const std::uint64_t next = token_in(line_[0]->receive(renewal_and_patience + slack).value_or("no answer"));
    EXPECT_GT(next, token_);
    EXPECT_EQ(line_[0]->ask("write a " + file_), "accepted");
    EXPECT_EQ(holder_.receive(renewal_and_patience + slack).value_or("not told"), "lost");
    EXPECT_EQ(holder_.ask("valid a"), "no");
    EXPECT_EQ(holder_.ask("write a " + file_), "refused");
    EXPECT_EQ(holder_.ask("release a"), "not_held");
    EXPECT_EQ(line_[0]->ask("valid a"), "yes") << "what the old holder did is none of its concern";
    EXPECT_EQ(line_[0]->ask("release a"), "released");
    EXPECT_THAT(holder_.ask("acquire a " + long_lease), StartsWith("granted"));
  }

  const std::string long_lease = "12000 30000";
  RedisStore store_{GetParam()};
  const test::TemporaryDirectory directory_;
  const std::string file_ = (directory_.path() / "resource").string();
  const Client client_{store_.url()};
  ProcessPeer holder_{store_.url()};
  Line line_;
  std::uint64_t token_ = 0;
};

TEST_P(RedisLoss, OfAllKeysIsToldByTheNextRenewal) {
  ASSERT_GT(store_.do_harm(Sabotage::forget, 0ms), 0U);
  expect_loss();
}

TEST_P(RedisLoss, InARestartIsToldByTheNextRenewal) {
  ASSERT_GT(store_.do_harm(Sabotage::restart_empty, 100ms), 0U);
  expect_loss();
}

TEST_P(RedisLoss, DoesNotHappenInARestartWithDurableData) {
  ASSERT_GT(store_.do_harm(Sabotage::restart, 100ms), 0U);
  EXPECT_EQ(line_[0]->receive(renewal_and_patience).value_or("waits"), "waits");
  EXPECT_EQ(holder_.ask("valid a"), "yes");
  EXPECT_EQ(holder_.ask("release a"), "released");
  EXPECT_GT(token_in(line_[0]->receive(renewal_and_patience + slack).value_or("no answer")), token_);
}

// Whoever has read a version before the loss must not take another value for the one that he has read.
TEST(RedisRegisterLoss, NoVersionIsUsedAgain) {
  RedisStore store(RedisStore::Layout::queue);
  Client client(store.url());
  Register value(client, "value");
  Register number(client, "number");
  std::uint64_t read = 0;
  for (int i = 0; i < 20; ++i) read = value.set("before");
  for (int i = 0; i < 20; ++i) number.add(1);
  const std::uint64_t counted = number.get().version;
  ASSERT_GT(store.do_harm(Sabotage::forget, 0ms), 0U);
  EXPECT_FALSE(test::answered([&] { return value.compare_and_set(read, "late"); }));
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t version = test::answered([&] { return value.set("after"); });
    EXPECT_GT(version, read);
    EXPECT_FALSE(value.compare_and_set(read, "late"));
    read = version;
  }
  EXPECT_EQ(number.add(1), 1);
  EXPECT_GT(number.get().version, counted);
}

INSTANTIATE_TEST_SUITE_P(Layout, RedisLoss, testing::Values(RedisStore::Layout::queue, RedisStore::Layout::plain),
                         [](const auto& it) { return it.param == RedisStore::Layout::queue ? "queue" : "plain"; });

}  // namespace
}  // namespace holdfast::faults
