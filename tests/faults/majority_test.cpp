// Three servers of which two must agree, when some are cut off, stand still or die: those on the wrong side know before
// others are served, nobody is served without a majority, and a new leader changes nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/line.hpp"
#include "faults/server_kinds.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;
using testing::AnyOf;
using testing::SizeIs;
using testing::StartsWith;

class Majority : public testing::TestWithParam<ReplicatedKind> {
 protected:
  std::vector<std::size_t> all_but(std::size_t server) const {
    return {(server + 1) % ReplicatedStore::size, (server + 2) % ReplicatedStore::size};
  }

  /// A holder whose only server is cut off from the others, and a waiter who reaches these.
  void expect_exclusion_across_a_cut(std::size_t server) {
    const std::string majority = store_->url_of(all_but(server));
    const std::string file = (directory_.path() / "resource").string();
    const Client client(majority);
    ProcessPeer holder(store_->url_of({server}));
    ProcessPeer control(majority);
    const std::uint64_t token = token_in(holder.ask("acquire a 3000 5000"));
    ASSERT_GT(token, 0U);
    ASSERT_THAT(control.ask("acquire b 3000 5000"), StartsWith("granted"));
    ASSERT_EQ(holder.ask("write a " + file), "accepted");
    const Line line = line_of(majority, client, 1, "3000 60000");
    ASSERT_THAT(line, SizeIs(1));

    store_->cut_off(server);
    EXPECT_EQ(holder.ask("valid a"), "yes") << "it has a lease, and it is not over yet";
    const std::uint64_t next = token_in(line[0]->receive(test::patience).value_or("no answer"));
    EXPECT_EQ(holder.ask("valid a"), "no") << "two holders";
    EXPECT_GT(next, token);
    EXPECT_EQ(line[0]->ask("write a " + file), "accepted");
    EXPECT_EQ(holder.ask("write a " + file), "refused");
    EXPECT_EQ(holder.ask("await_loss a"), "lost");
    EXPECT_THAT(holder.ask("acquire c 3000 1000"), AnyOf(StartsWith("error"), "timed_out")) << "from a minority";
    EXPECT_THAT(control.ask("acquire c 3000 20000"), StartsWith("granted")) << "from the majority";

    EXPECT_EQ(line[0]->ask("release a"), "released");
    store_->rejoin(server);
    EXPECT_GT(token_in(holder.ask("acquire a 3000 20000")), next);
  }

  const std::unique_ptr<ReplicatedStore> store_ = GetParam().make();
  const test::TemporaryDirectory directory_;
};

TEST_P(Majority, IsServedOnlyAfterAHolderCutOffWithTheLeaderKnows) {
  const std::size_t leader = store_->leader();
  ASSERT_LT(leader, ReplicatedStore::size);
  expect_exclusion_across_a_cut(leader);
}

TEST_P(Majority, IsServedOnlyAfterAHolderCutOffWithAFollowerKnows) {
  const std::size_t leader = store_->leader();
  ASSERT_LT(leader, ReplicatedStore::size);
  expect_exclusion_across_a_cut((leader + 1) % ReplicatedStore::size);
}

TEST_P(Majority, LostForTwoLeasesServesNobodyAndThenGoesOn) {
  constexpr auto lease = 2s;
  const Client client(store_->url());
  ProcessPeer holder(store_->url());
  ProcessPeer other(store_->url());
  const std::uint64_t token = token_in(holder.ask("acquire a 2000 5000"));
  ASSERT_GT(token, 0U);
  ASSERT_THAT(other.ask("acquire b 2000 5000"), StartsWith("granted")) << "it has had contact";
  ASSERT_EQ(other.ask("release b"), "released");
  const Line line = line_of(store_->url(), client, 1, "2000 60000");
  ASSERT_THAT(line, SizeIs(1));
  const std::size_t leader = store_->leader();
  ASSERT_LT(leader, ReplicatedStore::size);

  store_->kill(leader);
  store_->kill((leader + 1) % ReplicatedStore::size);
  holder.send("await_loss a");
  other.send("acquire b 2000 " + std::to_string(std::chrono::milliseconds(lease).count()));
  EXPECT_EQ(line[0]->receive(2 * lease).value_or("waits"), "waits");
  EXPECT_EQ(holder.receive(slack).value_or("not told"), "lost");
  EXPECT_THAT(other.receive(slack).value_or("no answer"), AnyOf(StartsWith("error"), "timed_out"));

  store_->start_missing();
  const std::uint64_t next = token_in(line[0]->receive(test::patience).value_or("no answer"));
  EXPECT_GT(next, token);
  EXPECT_EQ(holder.ask("release a"), "not_held");
  EXPECT_EQ(line[0]->ask("valid a"), "yes");
  EXPECT_EQ(line[0]->ask("release a"), "released");
  EXPECT_GT(token_in(other.ask("acquire a 2000 20000")), next);
}

/// A new leader, however the old one was lost, changes nothing for those who have a lease long enough.
TEST_P(Majority, KeepsAHoldAndALineUnderANewLeader) {
  const Client client(store_->url());
  ProcessPeer holder(store_->url());
  std::uint64_t token = token_in(holder.ask("acquire a 15000 5000"));
  ASSERT_GT(token, 0U);
  for (const Sabotage harm : {Sabotage::kill_leader, Sabotage::pause_leader, Sabotage::cut_off_leader}) {
    const Line line = line_of(store_->url(), client, 1, "15000 60000");
    ASSERT_THAT(line, SizeIs(1)) << name_of(harm);
    ASSERT_EQ(store_->do_harm(harm, 500ms), 1U) << name_of(harm);
    EXPECT_TRUE(waits(*line[0])) << name_of(harm);
    EXPECT_EQ(holder.ask("valid a"), "yes") << name_of(harm);
    // Whoever comes back may make them vote again.
    EXPECT_THAT(holder.ask("release a"), AnyOf("released", "in_doubt")) << name_of(harm);
    const std::uint64_t next = token_in(line[0]->receive(5s + slack).value_or("no answer"));
    EXPECT_GT(next, token) << name_of(harm);
    ASSERT_THAT(line[0]->ask("release a"), AnyOf("released", "in_doubt")) << name_of(harm);
    token = token_in(holder.ask("acquire a 15000 20000"));
    ASSERT_GT(token, next) << name_of(harm);
  }
}

INSTANTIATE_TEST_SUITE_P(Store, Majority, testing::ValuesIn(replicated_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::faults
