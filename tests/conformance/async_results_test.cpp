// What asynchronous functions answer with.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "conformance/answers.hpp"
#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::errc_of;
using test::eventually;

TEST_P(AsyncConformance, AHoldWhoseClientIsClosedCannotBeExtended) {
  test::Recorder<std::error_code> codes;
  Client client = open();
  Hold hold = Mutex(client, "held").acquire();
  client.close();
  EXPECT_EQ(errc_of([&] { hold.async_extend(1h, into(codes)); }), Errc::closed);
  EXPECT_EQ(codes.size(), 0u);
}

TEST_P(AsyncConformance, AHoldIsReleasedOnceHoweverItIsDone) {
  Answers<Released> answers;
  Client client = open();
  Hold hold = Mutex(client, "held").acquire();
  hold.async_release(into(answers));
  hold.async_release(into(answers));
  ASSERT_TRUE(answers.reaches(2));
  std::vector<Released> outcomes;
  for (const auto& answer : answers.all()) {
    EXPECT_FALSE(answer.code);
    outcomes.push_back(answer.value);
  }
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), Released::released), 1);
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), Released::not_held), 1);
  EXPECT_FALSE(client.show("held"));
}

TEST_P(FixedLeaseConformance, AHoldIsExtendedOrSaysWhyNot) {
  test::Recorder<std::error_code> codes;
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "held", {.ttl = steady_ttl()}).acquire();
  hold.async_extend(1h, into(codes));
  ASSERT_TRUE(codes.reaches(1));
  EXPECT_FALSE(codes.take()[0]);
  EXPECT_GT(hold.remaining(), 30min);
  ASSERT_TRUE(other.evict("held"));
  ASSERT_TRUE(eventually([&] { return !hold.valid(); }));
  hold.async_extend(1h, into(codes));
  ASSERT_TRUE(codes.reaches(1));
  EXPECT_EQ(codes.take()[0], Errc::lost);
}

TEST_P(AsyncConformance, RegistersAnswerWithWhatTheyHold) {
  Answers<Versioned> read;
  Answers<std::uint64_t> set;
  Answers<Written> written;
  Answers<std::int64_t> added;
  Client client = open();
  Register mine(client, "thing");
  mine.async_set("17", into(set));
  const std::uint64_t version = first(set).value;
  EXPECT_EQ(version, mine.get().version);
  mine.async_get(into(read));
  EXPECT_EQ(first(read).value.value, "17");
  mine.async_add(-20, into(added));
  EXPECT_EQ(first(added).value, -3);
  mine.async_compare_and_set(version, "never", into(written));
  const Answer<Written> refused = first(written);
  EXPECT_EQ(refused.code, std::error_code()) << "that it was not written is a result";
  EXPECT_FALSE(refused.value);
  EXPECT_EQ(refused.value.now.value, "-3");
  mine.async_compare_and_set(refused.value.now.version, "4", into(written));
  EXPECT_TRUE(first(written).value);
  mine.async_wait_for_change(version, into(read));
  EXPECT_EQ(first(read).value.value, "4");
}

TEST_P(AsyncConformance, ElectionsAnswerWithTermsAndLeaders) {
  Answers<Token> terms;
  Answers<std::optional<Leader>> leaders;
  Client client = open();
  Election election(client, "thing");
  election.async_leader(into(leaders));
  EXPECT_EQ(first(leaders).value, std::nullopt);
  election.async_campaign("one", into(terms));
  const Token term = first(terms).value;
  EXPECT_TRUE(election.leads());
  EXPECT_EQ(election.hold()->token(), term);
  election.async_campaign("two", into(terms));
  EXPECT_EQ(first(terms).value, term) << "it leads already";
  election.async_leader(into(leaders));
  EXPECT_EQ(first(leaders).value, (Leader{"two", term}));
}

TEST_P(AsyncConformance, LocksAndRunsAreHeldByWhatTheCallbackIsGiven) {
  Answers<MultiHold> holds;
  Answers<std::optional<holdfast::Run>> runs;
  Client client = open();
  Client other = open();
  MultiLock lock(client, {"a", "b"});
  lock.async_acquire(into(holds));
  {
    const Answer<MultiHold> answer = first(holds);
    EXPECT_TRUE(answer.value.valid());
    EXPECT_EQ(answer.value.tokens().size(), 2u);
    EXPECT_FALSE(Mutex(other, "b").try_acquire());
  }
  EXPECT_TRUE(becomes_free(other, "b"));
  Once once(client, "job", 10min);
  once.async_begin(into(runs));
  {
    Answer<std::optional<holdfast::Run>> answer = first(runs);
    ASSERT_TRUE(answer.value);
    EXPECT_TRUE(answer.value->hold().valid());
    answer.value->succeed(5);
  }
  EXPECT_EQ(once.last_run().value().result, 5);
  once.async_begin(into(runs));
  const Answer<std::optional<holdfast::Run>> skipped = first(runs);
  EXPECT_EQ(skipped.code, std::error_code());
  EXPECT_FALSE(skipped.value) << "nothing to do";
}

}  // namespace
}  // namespace holdfast::conformance
