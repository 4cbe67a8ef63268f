// A server that executes what it is asked for, and whose answer is lost with the connection: whoever asked finds out
// what became of it, and stands in the line once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faults/line.hpp"
#include "faults/server_kinds.hpp"

namespace holdfast::faults {
namespace {

using test::eventually;
using test::ProcessPeer;
using testing::StartsWith;

/// With leases so long that nothing here can be explained by their end.
class LostReply : public testing::TestWithParam<OneServerKind> {
 protected:
  void SetUp() override {
    ASSERT_THAT(asker_.ask("acquire other " + long_lease), StartsWith("granted"));
    // So that there is all that a claim needs, and the next request is the one that makes it.
    ASSERT_THAT(asker_.ask("acquire a " + long_lease), StartsWith("granted"));
    ASSERT_EQ(asker_.ask("release a"), "released");
    ASSERT_TRUE(eventually([&] { return store_->claims_of("a").empty(); }));
  }

  /// Asks for `a`, and does not hear the answer before the connection is cut. False: the request had no effect.
  bool ask_in_vain(std::size_t claims_afterwards) {
    const std::size_t lost = store_->proxy().lost();
    store_->proxy().lose_replies();
    asker_.send("acquire a " + long_lease);
    const bool executed = eventually([&] { return store_->claims_of("a").size() == claims_afterwards; }) &&
                          eventually([&] { return store_->proxy().lost() > lost; });
    EXPECT_FALSE(asker_.receive(0ms).has_value()) << "it has heard of it";
    store_->proxy().reset();
    return executed;
  }

  const std::string long_lease = "20000 20000";
  const std::unique_ptr<OneServerStore> store_ = GetParam().make();
  ProcessPeer asker_{store_->url()};  // through the proxy, and known to the server
};

TEST_P(LostReply, ToAClaimThatWasGrantedLeavesOneClaim) {
  ASSERT_TRUE(ask_in_vain(1));
  EXPECT_TRUE(is_granted_within(asker_, 5s));
  EXPECT_EQ(store_->claims_of("a").size(), 1U);
  EXPECT_EQ(asker_.ask("valid a"), "yes");
  EXPECT_EQ(asker_.ask("valid other"), "yes") << "what it had it keeps";
  EXPECT_EQ(asker_.ask("release a"), "released");
  EXPECT_TRUE(eventually([&] { return store_->claims_of("a").empty(); }));
}

TEST_P(LostReply, ToAClaimThatWaitsLeavesOneClaimInTheLine) {
  ProcessPeer holder(store_->direct_url());
  const std::uint64_t first = token_in(holder.ask("acquire a " + long_lease));
  ASSERT_TRUE(ask_in_vain(2));
  EXPECT_TRUE(waits(asker_));
  EXPECT_EQ(store_->claims_of("a").size(), 2U) << "the holder's, and one";
  ASSERT_EQ(holder.ask("release a"), "released");
  EXPECT_GT(token_in(asker_.receive(5s).value_or("no answer")), first);
  EXPECT_EQ(store_->claims_of("a").size(), 1U);
}

TEST_P(LostReply, ToAReleaseLeavesNoClaim) {
  ASSERT_THAT(asker_.ask("acquire a " + long_lease), StartsWith("granted"));
  const std::size_t lost = store_->proxy().lost();
  store_->proxy().lose_replies();
  asker_.send("release a");
  ASSERT_TRUE(eventually([&] { return store_->claims_of("a").empty() && store_->proxy().lost() > lost; }));
  store_->proxy().reset();
  EXPECT_THAT(asker_.receive(), testing::AnyOf("released", "in_doubt"));
  EXPECT_TRUE(is_granted_within((asker_.send("acquire a " + long_lease), asker_), 5s));
  EXPECT_EQ(store_->claims_of("a").size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Store, LostReply, testing::ValuesIn(one_server_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
}  // namespace holdfast::faults
