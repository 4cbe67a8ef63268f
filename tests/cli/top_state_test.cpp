#include <gmock/gmock.h>

#include "cli/top/state.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Page = TopState::Page;
using Outcome = TopState::Outcome;

constexpr std::size_t rows = 2;

LockStatus lock(const std::string& name, std::chrono::seconds age, std::chrono::seconds ttl, std::size_t waiters) {
  const std::chrono::system_clock::time_point now{1h};
  return {.name = name,
          .holders = {{.client = {.id = "c1"}, .since = now - age, .lease_left = ttl}},
          .waiters = std::vector<ClaimStatus>(waiters)};
}

class TopKeys : public testing::Test {
 protected:
  TopKeys() { state.update(locks); }

  Outcome press(const std::string& characters) {
    Outcome outcome = Outcome::none;
    for (const char character : characters) {
      outcome = state.press({.kind = Key::Kind::character, .text = std::string(1, character)}, rows);
    }
    return outcome;
  }
  Outcome press(Key::Kind kind) { return state.press({.kind = kind}, rows); }

  std::vector<std::string> shown() const {
    std::vector<std::string> names;
    for (const LockStatus* lock : state.shown()) names.push_back(lock->name);
    return names;
  }
  std::string selected() const { return state.shown().at(state.selected())->name; }

  const std::vector<LockStatus> locks{lock("apple", 10s, 5s, 1),
                                      lock("bread", 30s, 9s, 0),
                                      lock("cheese", 20s, 7s, 3),
                                      {.name = "dough", .waiters = std::vector<ClaimStatus>(2)}};
  TopState state;
};

TEST_F(TopKeys, SortThoseWhoseAgeNobodyKnowsBehindTheOthers) {
  LockStatus unknown = lock("an unknown holder's", 0s, 1s, 0);
  unknown.holders[0].client = {};
  unknown.holders[0].since = {};
  state.update({unknown, locks[0], locks[1], locks[3]});
  press("s");
  EXPECT_THAT(shown(), ElementsAre("bread", "apple", "an unknown holder's", "dough"));
  press("t");
  EXPECT_THAT(shown(), ElementsAre("an unknown holder's", "apple", "bread", "dough"));
}

TEST_F(TopKeys, Sort) {
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese", "dough"));
  press("s");
  EXPECT_THAT(shown(), ElementsAre("bread", "cheese", "apple", "dough"));
  press("t");
  EXPECT_THAT(shown(), ElementsAre("apple", "cheese", "bread", "dough"));
  press("w");
  EXPECT_THAT(shown(), ElementsAre("cheese", "dough", "apple", "bread"));
  press("n");
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese", "dough"));
}

TEST_F(TopKeys, TwiceReverse) {
  press("n");
  EXPECT_THAT(shown(), ElementsAre("dough", "cheese", "bread", "apple"));
  EXPECT_TRUE(state.reversed());
  press("n");
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese", "dough"));
  press("nw");
  EXPECT_FALSE(state.reversed()) << "another order begins in its own direction";
}

TEST_F(TopKeys, Select) {
  EXPECT_EQ(selected(), "apple");
  press(Key::Kind::down);
  EXPECT_EQ(selected(), "bread");
  press("jjjjj");
  EXPECT_EQ(selected(), "dough");
  press("k");
  EXPECT_EQ(selected(), "cheese");
  press(Key::Kind::page_up);
  EXPECT_EQ(selected(), "apple");
  press(Key::Kind::up);
  EXPECT_EQ(selected(), "apple");
  press(Key::Kind::page_down);
  EXPECT_EQ(selected(), "cheese");
  press(Key::Kind::end);
  EXPECT_EQ(selected(), "dough");
  press(Key::Kind::home);
  EXPECT_EQ(selected(), "apple");
}

TEST_F(TopKeys, SelectALockNotALine) {
  press("j");
  state.update({lock("aardvark", 1s, 1s, 0), locks[0], locks[1]});
  EXPECT_EQ(selected(), "bread");
  state.update({lock("aardvark", 1s, 1s, 0), locks[0], locks[2]});
  EXPECT_EQ(selected(), "cheese") << "what took the place of one that is gone";
  state.update({locks[0]});
  EXPECT_EQ(selected(), "apple");
  state.update({});
  EXPECT_THAT(shown(), IsEmpty());
  press(Key::Kind::down);
  press(Key::Kind::enter);
  EXPECT_EQ(state.page(), Page::list);
}

TEST_F(TopKeys, LeaveTheFirstLineSelectedWhereNobodyMoved) {
  state.update({lock("aardvark", 1s, 1s, 0), locks[0]});
  EXPECT_EQ(selected(), "aardvark");
}

TEST_F(TopKeys, Filter) {
  press("/");
  EXPECT_EQ(state.page(), Page::filter);
  press("e");
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese"));
  press("e");
  EXPECT_THAT(shown(), ElementsAre("cheese"));
  press(Key::Kind::backspace);
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese"));
  press(Key::Kind::enter);
  EXPECT_EQ(state.page(), Page::list);
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese"));
  press(Key::Kind::escape);
  EXPECT_THAT(shown(), ElementsAre("apple", "bread", "cheese", "dough"));
}

TEST_F(TopKeys, OfTheFilterAreNoCommands) {
  EXPECT_EQ(press("/q"), Outcome::none);
  EXPECT_EQ(state.filter(), "q");
  press(Key::Kind::escape);
  EXPECT_EQ(state.filter(), "");
  EXPECT_EQ(state.page(), Page::list);
}

TEST_F(TopKeys, TakeWholeCharactersBack) {
  press("/");
  state.press({.kind = Key::Kind::character, .text = "☃"}, rows);
  press(Key::Kind::backspace);
  EXPECT_EQ(state.filter(), "");
  press(Key::Kind::backspace);
  EXPECT_EQ(state.filter(), "");
}

TEST_F(TopKeys, OpenTheDetails) {
  press("j");
  press(Key::Kind::enter);
  EXPECT_EQ(state.page(), Page::detail);
  ASSERT_NE(state.detail(), nullptr);
  EXPECT_EQ(state.detail()->name, "bread");
  state.update({locks[0]});
  EXPECT_EQ(state.detail(), nullptr);
  EXPECT_EQ(state.detail_name(), "bread");
  EXPECT_EQ(press("q"), Outcome::none);
  EXPECT_EQ(state.page(), Page::list);
  press(Key::Kind::enter);
  press(Key::Kind::escape);
  EXPECT_EQ(state.page(), Page::list);
}

TEST_F(TopKeys, ScrollTheDetails) {
  press(Key::Kind::enter);
  press(Key::Kind::up);
  EXPECT_EQ(state.scrolled(), 0U);
  press("j");
  EXPECT_EQ(state.scrolled(), 1U);
  for (int i = 0; i < 100; ++i) press(Key::Kind::page_down);
  const std::size_t furthest = state.scrolled();
  EXPECT_GT(furthest, 1U);
  EXPECT_LT(furthest, 20U);
  press("k");
  EXPECT_EQ(state.scrolled(), furthest - 1) << "nothing was scrolled beyond the end";
}

TEST_F(TopKeys, AskForHelp) {
  press("?");
  EXPECT_EQ(state.page(), Page::help);
  press("jj");
  EXPECT_EQ(state.scrolled(), 2U);
  EXPECT_EQ(press("q"), Outcome::none);
  EXPECT_EQ(state.page(), Page::list);
  press("?");
  EXPECT_EQ(state.scrolled(), 0U);
  press("?");
  EXPECT_EQ(state.page(), Page::list);
}

TEST_F(TopKeys, QuitAndStop) {
  EXPECT_EQ(press("q"), Outcome::quit);
  for (const std::string page : {"", "/", "?"}) {
    press(page);
    EXPECT_EQ(press(Key::Kind::interrupt), Outcome::quit);
    EXPECT_EQ(press(Key::Kind::stop), Outcome::stop);
    EXPECT_EQ(press(Key::Kind::redraw), Outcome::redraw);
    press(Key::Kind::escape);
  }
}

TEST_F(TopKeys, WithoutAMeaningDoNothing) {
  EXPECT_EQ(press("xyz"), Outcome::none);
  EXPECT_EQ(press(Key::Kind::unknown), Outcome::none);
  EXPECT_EQ(state.page(), Page::list);
  EXPECT_EQ(selected(), "apple");
}

}  // namespace
}  // namespace holdfast::cli
