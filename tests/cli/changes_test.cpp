#include "cli/look/changes.hpp"

#include <gmock/gmock.h>

#include "cli/look/json.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto soon = 250ms;

ClaimStatus holder(const std::string& client, std::uint64_t number, std::chrono::milliseconds lease_left = 8s) {
  return {.client = {.id = client}, .number = number, .lease_left = lease_left};
}
ClaimStatus waiter(const std::string& client) { return {.client = {.id = client}}; }

/// Changes as `released x a`: the event, the lock, the client.
std::vector<std::string> words_of(const std::vector<Change>& changes) {
  std::vector<std::string> words;
  for (const Change& change : changes) {
    words.push_back(std::string(word_for(change.kind)) + " " + change.name + " " + change.claim.client.id);
  }
  return words;
}

std::vector<std::string> between(const std::vector<LockStatus>& before, const std::vector<LockStatus>& now,
                                 std::chrono::milliseconds elapsed = soon) {
  return words_of(changes_between(before, now, elapsed));
}

TEST(Changes, AreNoneWhenNothingHappened) {
  const std::vector<LockStatus> locks{{.name = "x", .holders = {holder("a", 1)}, .waiters = {waiter("b")}}};
  EXPECT_THAT(between(locks, locks), IsEmpty());
  EXPECT_THAT(between({}, {}), IsEmpty());
}

TEST(Changes, DoNotIncludeRenewalsAndClocksThatDrift) {
  ClaimStatus later = holder("a", 1, 10s);
  later.since += 1ms;
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1, 7s)}}}, {{.name = "x", .holders = {later}}}),
              IsEmpty());
}

TEST(Changes, BeginWithWhatIsThere) {
  const std::vector<LockStatus> locks{{.name = "x", .holders = {holder("a", 1)}, .waiters = {waiter("b")}},
                                      {.name = "y", .waiters = {waiter("c")}}};
  EXPECT_THAT(words_of(present(locks)), ElementsAre("held x a", "waiting x b", "waiting y c"));
}

TEST(Changes, AreAGrantAndItsEnd) {
  const std::vector<LockStatus> held{{.name = "x", .holders = {holder("a", 1)}}};
  EXPECT_THAT(between({}, held), ElementsAre("acquired x a"));
  EXPECT_THAT(between(held, {}), ElementsAre("released x a"));
}

TEST(Changes, KnowWhatAnOperatorBroke) {
  const std::vector<LockStatus> held{{.name = "x", .holders = {holder("a", 7)}}};
  const auto end_with = [&](const BreakMark& mark) { return words_of(changes_between(held, {}, soon, {mark})); };
  EXPECT_THAT(end_with({.name = "x", .up_to = 7}), ElementsAre("broken x a"));
  EXPECT_THAT(end_with({.name = "x", .up_to = 6}), ElementsAre("released x a")) << "an earlier holder's";
  EXPECT_THAT(end_with({.name = "y", .up_to = 7}), ElementsAre("released x a"));
  EXPECT_THAT(end_with({.name = "x", .kind = LockKind::election, .up_to = 7}), ElementsAre("released x a"));
}

TEST(Changes, AreTwoWhenOneHolderFollowsAnother) {
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1)}}}, {{.name = "x", .holders = {holder("b", 2)}}}),
              ElementsAre("released x a", "acquired x b"));
}

TEST(Changes, AreTwoWhenTheSameClientTakesItAgain) {
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1)}}}, {{.name = "x", .holders = {holder("a", 2)}}}),
              ElementsAre("released x a", "acquired x a"));
}

TEST(Changes, CallALeaseThatRanOutExpired) {
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1, 200ms)}}}, {}, 250ms), ElementsAre("expired x a"));
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1, 300ms)}}}, {}, 250ms), ElementsAre("released x a"));
}

TEST(Changes, DoNotGuessAfterALongBreak) {
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1, 8s)}}}, {}, 30s), ElementsAre("released x a"));
}

TEST(Changes, AreWaitersThatComeAndGo) {
  const std::vector<LockStatus> without{{.name = "x", .holders = {holder("a", 1)}}};
  const std::vector<LockStatus> with{{.name = "x", .holders = {holder("a", 1)}, .waiters = {waiter("b")}}};
  EXPECT_THAT(between(without, with), ElementsAre("waiting x b"));
  EXPECT_THAT(between(with, without), ElementsAre("left x b"));
}

TEST(Changes, OfAWaiterThatIsServedAreOneGrant) {
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1)}, .waiters = {waiter("b"), waiter("c")}}},
                      {{.name = "x", .holders = {holder("b", 2)}, .waiters = {waiter("c")}}}),
              ElementsAre("released x a", "acquired x b"));
}

TEST(Changes, OfAClientThatIsServedAndWaitsAgainAreBoth) {
  EXPECT_THAT(between({{.name = "x", .holders = {holder("a", 1)}, .waiters = {waiter("b")}}},
                      {{.name = "x", .holders = {holder("b", 2)}, .waiters = {waiter("b")}}}),
              ElementsAre("released x a", "acquired x b", "waiting x b"));
}

TEST(Changes, CountWaitersOfOneClient) {
  const std::vector<LockStatus> one{{.name = "x", .waiters = {waiter("b")}}};
  const std::vector<LockStatus> three{{.name = "x", .waiters = {waiter("b"), waiter("b"), waiter("b")}}};
  EXPECT_THAT(between(one, three), ElementsAre("waiting x b", "waiting x b"));
  EXPECT_THAT(between(three, one), ElementsAre("left x b", "left x b"));
}

TEST(Changes, TellThingsOfTheSameNameApart) {
  const LockStatus lock{.name = "x", .holders = {holder("a", 1)}};
  const LockStatus election{.name = "x", .kind = LockKind::election, .holders = {holder("a", 1)}};
  const std::vector<Change> changes = changes_between({lock, election}, {lock}, soon);
  ASSERT_THAT(words_of(changes), ElementsAre("released x a"));
  EXPECT_EQ(changes[0].lock_kind, LockKind::election);
}

TEST(Changes, AreSortedByName) {
  EXPECT_THAT(between({{.name = "b", .holders = {holder("x", 1)}}}, {{.name = "a", .holders = {holder("y", 2)}}}),
              ElementsAre("acquired a y", "released b x"));
}

TEST(Changes, AreOneLineOfJson) {
  const Change change{.kind = Change::Kind::acquired,
                      .name = "a\nb",
                      .claim = {.client = {.id = "c1", .host = "h", .pid = 7, .command = "cmd", .label = "l"},
                                .number = 3,
                                .reason = "why",
                                .since = std::chrono::system_clock::time_point(0s),
                                .lease_left = 1500ms}};
  EXPECT_EQ(to_json(change, std::chrono::system_clock::time_point(1ms)),
            R"({"event":"acquired","time":"1970-01-01T00:00:00.001Z","name":"a\nb","mode":"exclusive","token":"768",)"
            R"("client":"c1","host":"h","pid":7,"command":"cmd","label":"l","reason":"why",)"
            R"("since":"1970-01-01T00:00:00.000Z","ttl_ms":1500})"
            "\n");
}

}  // namespace
}  // namespace holdfast::cli
