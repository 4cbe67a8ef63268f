// An operator who deletes a claim, or ends the lease or session on which it lives, while somebody holds the lock and
// somebody waits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "faults/line.hpp"
#include "faults/server_kinds.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::faults {
namespace {

using test::eventually;
using test::ProcessPeer;
using testing::SizeIs;

enum class Deed { deletes_the_claim, ends_its_lease };
std::string text_of(Deed deed) { return deed == Deed::ends_its_lease ? "ends_its_lease" : "deletes_the_claim"; }
void PrintTo(Deed deed, std::ostream* out) { *out << text_of(deed); }

/// A holder and a waiter with leases so long that nothing here can be explained by their end.
class Operator : public testing::TestWithParam<std::tuple<OneServerKind, Deed>> {
 protected:
  void SetUp() override {
    token_ = token_in(holder_.ask("acquire a " + long_lease));
    ASSERT_GT(token_, 0U);
    ASSERT_EQ(holder_.ask("write a " + file_), "accepted");
    line_ = line_of(store_->url(), client_, 1, long_lease);
    ASSERT_THAT(line_, SizeIs(1));
    ASSERT_THAT(store_->claims_of("a"), SizeIs(2));
  }

  void act_on(const std::string& claim) {
    if (std::get<Deed>(GetParam()) == Deed::deletes_the_claim) {
      store_->delete_claim(claim);
    } else {
      store_->end_lease_of(claim);
    }
  }

  static constexpr auto lease = 12s;
  static constexpr auto renewal_and_patience = lease / 3 + 1s;
  const std::string long_lease = "12000 30000";
  const std::unique_ptr<OneServerStore> store_ = std::get<OneServerKind>(GetParam()).make();
  const test::TemporaryDirectory directory_;
  const std::string file_ = (directory_.path() / "resource").string();
  const Client client_{store_->url()};
  ProcessPeer holder_{store_->url()};
  Line line_;
  std::uint64_t token_ = 0;
};

TEST_P(Operator, TakesALockFromItsHolderWhoIsToldAndFencedOff) {
  holder_.send("await_loss a");
  EXPECT_FALSE(holder_.receive(300ms).has_value()) << "nobody has done anything yet";
  act_on(store_->claims_of("a").at(0));
  const std::uint64_t next = token_in(line_[0]->receive(renewal_and_patience + slack).value_or("no answer"));
  EXPECT_GT(next, token_);
  EXPECT_EQ(line_[0]->ask("write a " + file_), "accepted");
  EXPECT_EQ(holder_.receive(renewal_and_patience + slack).value_or("not told"), "lost");
  EXPECT_EQ(holder_.ask("valid a"), "no");
  EXPECT_EQ(holder_.ask("write a " + file_), "refused");
  EXPECT_EQ(holder_.ask("release a"), "not_held");
  EXPECT_EQ(line_[0]->ask("valid a"), "yes") << "what the old holder did is none of its concern";
  EXPECT_EQ(line_[0]->ask("release a"), "released");
  EXPECT_GT(token_in(holder_.ask("acquire a " + long_lease)), next);
}

TEST_P(Operator, TakesAPlaceInTheLineFromAWaiterWhoJoinsAgain) {
  act_on(store_->claims_of("a").at(1));  // and then it is gone
  ASSERT_TRUE(eventually([&] { return store_->claims_of("a").size() == 2; })) << "it stands in the line again";
  EXPECT_TRUE(waits(*line_[0]));
  EXPECT_EQ(holder_.ask("valid a"), "yes");
  ASSERT_EQ(holder_.ask("release a"), "released");
  EXPECT_GT(token_in(line_[0]->receive(test::patience).value_or("no answer")), token_);
  EXPECT_THAT(store_->claims_of("a"), SizeIs(1));
}

INSTANTIATE_TEST_SUITE_P(Store, Operator,
                         testing::Combine(testing::ValuesIn(one_server_kinds()),
                                          testing::Values(Deed::deletes_the_claim, Deed::ends_its_lease)),
                         [](const auto& it) {
                           return std::get<OneServerKind>(it.param).name + "_" + text_of(std::get<Deed>(it.param));
                         });

}  // namespace
}  // namespace holdfast::faults
