#include <gmock/gmock.h>

#include <algorithm>

#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"
#include "cli/top/view.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using Style = FrameLine::Style;

const system_clock::time_point now{1'700'000'000s};

LockStatus lock(const std::string& name) {
  return {.name = name,
          .number = 3,
          .holders = {{.client = {.id = "c1", .host = "web1", .pid = 4711, .command = "backup"},
                       .number = 3,
                       .reason = "because",
                       .since = now - 130s,
                       .lease_left = 8200ms}},
          .waiters = {{.client = {.id = "c2", .host = "web2", .pid = 12, .label = "patient"}, .since = now - 5s}}};
}

class TopView : public testing::Test {
 protected:
  Frame view(ScreenSize size = {}) const { return view_of(state, store, now, size); }
  std::string text(ScreenSize size = {}) const {
    std::string all;
    for (const FrameLine& line : view(size)) all += line.text + "\n";
    return all;
  }
  void press(Key::Kind kind, const std::string& character = "") {
    state.press({.kind = kind, .text = character}, rows_of_page({}));
  }
  void press(const std::string& character) { press(Key::Kind::character, character); }

  TopState state;
  StoreNews store{.name = "redis://h", .seen = now};
};

TEST_F(TopView, ShowsALockInARow) {
  state.update({lock("nightly-report")});
  const Frame frame = view();
  ASSERT_EQ(frame.size(), 24U);
  EXPECT_THAT(frame[0].text, AllOf(StartsWith("holdfast top  redis://h "), HasSubstr(time_of_day(now))));
  EXPECT_THAT(frame[1].text, MatchesRegex("1 lock, 1 holder, 1 waiter +by name"));
  EXPECT_THAT(frame[2].text, MatchesRegex("NAME +MODE +HOLDER +SINCE +TTL +TOKEN +WAITERS *"));
  EXPECT_THAT(frame[3].text, MatchesRegex("nightly-report +exclusive +web1:4711 \\(backup\\) +2m 10s +8.2s +768 +1 *"));
  EXPECT_THAT(frame[23].text, HasSubstr("q quit"));
}

TEST_F(TopView, ShowsHowManyPermitsAreTaken) {
  LockStatus pool = lock("pool");
  pool.kind = LockKind::semaphore;
  pool.total = 5;
  pool.holders[0].mode = ClaimMode::permits;
  pool.holders[0].permits = 2;
  pool.holders.push_back(pool.holders[0]);
  state.update({pool});
  EXPECT_THAT(view({.columns = 110})[3].text,
              MatchesRegex("pool +permits 4/5 +web1:4711 \\(backup\\) and 1 more +2m 10s +8.2s +768 +1 *"));
}

TEST_F(TopView, AlignsItsColumns) {
  state.update({lock("☃"), lock("a-longer-name")});
  const Frame frame = view();
  const auto column_of = [](const std::string& line, const std::string& word) {
    return width(line.substr(0, line.find(word)));
  };
  EXPECT_EQ(column_of(frame[2].text, "MODE"), column_of(frame[3].text, "exclusive"));
  EXPECT_EQ(column_of(frame[2].text, "MODE"), column_of(frame[4].text, "exclusive"));
  EXPECT_EQ(column_of(frame[2].text, "TTL"), column_of(frame[4].text, "8.2s"));
}

TEST_F(TopView, FitsEverySize) {
  std::vector<LockStatus> locks;
  for (int i = 0; i < 50; ++i)
    locks.push_back(lock("a name that is rather long, ümläuts and all " + std::to_string(i)));
  state.update(locks);
  for (const std::string page : {"", "/", "?"}) {
    if (!page.empty()) press(page);
    for (std::size_t columns = 1; columns < 130; ++columns) {
      for (const std::size_t rows : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 24U, 80U}) {
        const Frame frame = view({.columns = columns, .rows = rows});
        ASSERT_EQ(frame.size(), rows);
        for (const FrameLine& line : frame) ASSERT_LE(width(line.text), columns) << line.text;
      }
    }
    press(Key::Kind::escape);
  }
}

TEST_F(TopView, HasAllColumnsOn80) {
  LockStatus wide = lock("a name that is rather long, and then some");
  wide.number = std::uint64_t{1} << 55U;
  state.update({wide});
  EXPECT_THAT(view()[2].text, MatchesRegex("NAME +MODE +HOLDER +SINCE +TTL +TOKEN +WAITERS *"));
  EXPECT_THAT(view()[3].text, HasSubstr("…"));
}

TEST_F(TopView, KeepsTheImportantOn40By6) {
  state.update({lock("nightly-report"), lock("weekly-report"), lock("yearly-report")});
  const Frame frame = view({.columns = 40, .rows = 6});
  EXPECT_THAT(frame[2].text, MatchesRegex("NAME +HOLDER +TTL +WAITERS *"));
  EXPECT_THAT(frame[3].text, StartsWith("nightly"));
  EXPECT_THAT(frame[4].text, StartsWith("weekly"));
  EXPECT_THAT(frame[5].text, StartsWith("q quit"));
}

TEST_F(TopView, MarksTheSelectedRow) {
  state.update({lock("a"), lock("b")});
  EXPECT_EQ(view()[3].style, Style::selected);
  EXPECT_EQ(width(view()[3].text), 80U) << "across the whole screen";
  press("j");
  EXPECT_EQ(view()[3].style, Style::plain);
  EXPECT_EQ(view()[4].style, Style::selected);
}

TEST_F(TopView, ScrollsWithTheSelection) {
  std::vector<LockStatus> locks;
  for (int i = 100; i < 200; ++i) locks.push_back(lock("lock-" + std::to_string(i)));
  state.update(locks);
  EXPECT_THAT(view()[3].text, StartsWith("lock-100"));
  EXPECT_THAT(view()[22].text, StartsWith("lock-119"));
  press(Key::Kind::page_down);
  press(Key::Kind::page_down);
  const Frame frame = view();
  EXPECT_THAT(frame[13].text, StartsWith("lock-140"));
  EXPECT_EQ(frame[13].style, Style::selected);
  press(Key::Kind::end);
  EXPECT_THAT(view()[22].text, StartsWith("lock-199"));
  EXPECT_EQ(view()[22].style, Style::selected);
}

TEST_F(TopView, SaysHowItIsArranged) {
  state.update({lock("apple"), lock("bread")});
  press("w");
  press("w");
  EXPECT_THAT(view()[1].text, HasSubstr("by waiters, reversed"));
  press("/");
  press("b");
  EXPECT_THAT(view()[1].text, HasSubstr("only 'b' (1)"));
  EXPECT_THAT(view()[23].text, StartsWith("filter: b_"));
  EXPECT_THAT(text(), Not(HasSubstr("apple")));
  press("z");
  EXPECT_THAT(view()[3].text, StartsWith("no name contains"));
}

TEST_F(TopView, SaysThatThereAreNone) {
  EXPECT_EQ(view()[3].text, "no lock is held");
  EXPECT_THAT(view()[1].text, StartsWith("0 locks, 0 holders, 0 waiters"));
}

TEST_F(TopView, ShowsDetails) {
  state.update({lock("nightly-report")});
  press(Key::Kind::enter);
  EXPECT_EQ(view()[2].text, "nightly-report");
  for (const char* part :
       {"web1, pid 4711", "backup", "because", "2m 10s ago", "8.2s left", "768", "1. web2:12 (patient)"}) {
    EXPECT_THAT(text(), HasSubstr(part));
  }
  const std::string first = view()[3].text;
  press("j");
  EXPECT_EQ(view()[3].text, first) << "there is room for all";
  state.update({});
  EXPECT_EQ(view()[2].text, "nightly-report");
  EXPECT_THAT(view()[3].text, StartsWith("free"));
}

TEST_F(TopView, ScrollsDetails) {
  state.update({lock("nightly-report")});
  press(Key::Kind::enter);
  const ScreenSize small{.columns = 60, .rows = 6};
  const std::string second = view(small)[4].text;
  state.press({.kind = Key::Kind::down}, rows_of_page(small));
  EXPECT_EQ(view(small)[3].text, second);
}

TEST_F(TopView, ShowsHelp) {
  press("?");
  EXPECT_THAT(text(), HasSubstr("sort by waiters"));
  EXPECT_THAT(text(), HasSubstr("Ctrl-C"));
  const ScreenSize small{.columns = 40, .rows = 6};
  EXPECT_THAT(text(small), Not(HasSubstr("Ctrl-C")));
  state.press({.kind = Key::Kind::end}, rows_of_page(small));
  EXPECT_THAT(text(small), HasSubstr("Ctrl-C"));
}

TEST_F(TopView, KeepsTheLastPictureWhenTheStoreIsAway) {
  state.update({lock("nightly-report")});
  store.failure = "cannot reach it";
  store.seen = now - 12s;
  const Frame frame = view();
  EXPECT_EQ(frame[1].text, "this is 12s old: cannot reach it");
  EXPECT_EQ(frame[1].style, Style::warning);
  EXPECT_THAT(frame[3].text, AllOf(StartsWith("nightly-report"), HasSubstr("1m 58s"))) << "as it was then";
}

TEST_F(TopView, ShowsNothingThatATerminalObeys) {
  LockStatus evil = lock("evil\x1b[2J\n");
  evil.holders[0].client.host = "\x1b]0;x\x07";
  evil.holders[0].reason = "\r\x9b";
  evil.waiters[0].reason = "\x1b[A";
  state.update({evil});
  const auto is_harmless = [](const std::string& text) {
    return std::none_of(text.begin(), text.end(), [](char byte) { return byte != '\n' && byte >= 0 && byte < 0x20; });
  };
  EXPECT_TRUE(is_harmless(text())) << text();
  press("/");
  press("\x1b");
  EXPECT_TRUE(is_harmless(text())) << text();
  press(Key::Kind::enter);
  press(Key::Kind::enter);
  EXPECT_THAT(text(), HasSubstr("evil\\x1b[2J\\n"));
  EXPECT_TRUE(is_harmless(text())) << text();
}

TEST(FramePaint, ClearsNothingThatItDrawsAgain) {
  const Frame frame{{"full!", Style::title}, {"abc", Style::selected}, {"☃☃☃☃☃"}};
  EXPECT_EQ(paint(frame, 5, false), "\x1b[H\x1b[1mfull!\x1b[0m\r\n\x1b[7mabc\x1b[0m\x1b[K\r\n☃☃☃☃☃\x1b[0m");
}

TEST(FramePaint, HasColoursOnDemand) {
  EXPECT_EQ(paint({{"bad", Style::warning}}, 3, true), "\x1b[H\x1b[1;31mbad\x1b[0m");
  EXPECT_EQ(paint({{"bad", Style::warning}}, 3, false), "\x1b[H\x1b[1mbad\x1b[0m");
}

}  // namespace
}  // namespace holdfast::cli
