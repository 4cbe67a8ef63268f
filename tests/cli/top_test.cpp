// `top` on a real terminal.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "cli/text/output.hpp"
#include "cli/tmux.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "support/background.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class Top : public World {
 protected:
  void start(const std::string& words = "$tool top") {
    tmux.enter(words + "; echo code=$?.");
    ASSERT_TRUE(tmux.shows("holdfast top  sqlite:")) << tmux.screen();
  }
  /// The tool, as the only child of the bash.
  pid_t pid_of_tool() const { return children_of(tmux.pid()).at(0); }
  bool row_begins(std::size_t row, const std::string& text) const {
    return eventually([&] { return tmux.row(row).starts_with(text); });
  }
  /// The terminal is as it was before.
  void expect_restored() {
    EXPECT_EQ(tmux.variable("alternate_on"), "0");
    EXPECT_EQ(tmux.variable("cursor_flag"), "1");
    EXPECT_EQ(tmux.variable("wrap_flag"), "1");
    EXPECT_THAT(tmux.screen(), HasSubstr("ready")) << "what was there before";
    tmux.enter("stty -g >" + (folder / "after").string() + "; echo do''ne");
    EXPECT_TRUE(tmux.shows("done"));
    EXPECT_EQ(content("after"), content("before"));
  }

  Client client{url, {.label = "tester"}};
  Hold apple = Mutex(client, "apple").acquire();
  Hold bread = Mutex(client, "bread", {.reason = "hungry"}).acquire();
  Tmux tmux{folder, url};

 private:
  void SetUp() override {
    tmux.enter("stty -g >" + (folder / "before").string());
    ASSERT_TRUE(eventually([&] { return content("before").ends_with('\n'); }));
  }
};

TEST_F(Top, ShowsTheLocks) {
  start();
  EXPECT_THAT(tmux.row(0), MatchesRegex("holdfast top  sqlite:.* [0-9]{2}:[0-9]{2}:[0-9]{2}"));
  EXPECT_THAT(tmux.row(1), StartsWith("2 locks, 2 holders, 0 waiters"));
  EXPECT_THAT(tmux.row(2), MatchesRegex("NAME +MODE +HOLDER +SINCE +TTL +TOKEN +WAITERS"));
  EXPECT_THAT(tmux.row(3), MatchesRegex("apple +exclusive +.*:[0-9].*"));
  EXPECT_THAT(tmux.row(4), StartsWith("bread "));
  EXPECT_THAT(tmux.row(23), HasSubstr("q quit"));
  EXPECT_EQ(tmux.variable("alternate_on"), "1");
  EXPECT_EQ(tmux.variable("cursor_flag"), "0");
}

TEST_F(Top, FollowsTheStore) {
  start();
  const Hold cheese = Mutex(client, "cheese").acquire();
  EXPECT_TRUE(tmux.shows("\ncheese "));
  Client other(url, {.label = "other"});
  Background waiter([&](std::stop_token stop) { return Mutex(other, "apple").acquire(std::move(stop)); });
  EXPECT_TRUE(tmux.shows("3 locks, 3 holders, 1 waiter "));
  bread.release();
  EXPECT_TRUE(tmux.hides("\nbread "));
}

TEST_F(Top, Sorts) {
  start();
  tmux.type("n");
  EXPECT_TRUE(row_begins(3, "bread "));
  EXPECT_TRUE(row_begins(4, "apple "));
  EXPECT_TRUE(tmux.shows("by name, reversed"));
}

TEST_F(Top, Filters) {
  start();
  tmux.type("/rea");
  EXPECT_TRUE(row_begins(23, "filter: rea_"));
  EXPECT_TRUE(row_begins(3, "bread "));
  EXPECT_TRUE(tmux.hides("apple"));
  tmux.press("Enter");
  EXPECT_TRUE(row_begins(23, "q quit"));
  EXPECT_TRUE(tmux.hides("apple"));
  tmux.press("Escape");
  EXPECT_TRUE(row_begins(3, "apple "));
}

TEST_F(Top, ShowsOneLockInFull) {
  start();
  tmux.press("Down");
  tmux.press("Enter");
  EXPECT_TRUE(row_begins(2, "bread"));
  EXPECT_TRUE(tmux.shows("reason:   hungry"));
  EXPECT_THAT(tmux.screen(), Not(HasSubstr("apple")));
  bread.release();
  EXPECT_TRUE(tmux.shows("free: nobody holds it"));
  tmux.press("Escape");
  EXPECT_TRUE(row_begins(3, "apple "));
}

TEST_F(Top, HasHelp) {
  start();
  tmux.type("?");
  EXPECT_TRUE(tmux.shows("sort by waiters"));
  tmux.press("Escape");
  EXPECT_TRUE(row_begins(3, "apple "));
}

TEST_F(Top, FollowsTheSizeOfItsTerminal) {
  start();
  for (const Tmux::Size size : {Tmux::Size{40, 6}, Tmux::Size{120, 40}, Tmux::Size{80, 24}}) {
    tmux.resize(size);
    const auto last = static_cast<std::size_t>(size.rows - 1);
    EXPECT_TRUE(row_begins(last, "q quit")) << tmux.screen();
    EXPECT_TRUE(eventually([&] { return cli::width(tmux.row(0)) == static_cast<std::size_t>(size.columns); }))
        << tmux.screen();
    EXPECT_THAT(tmux.row(3), StartsWith("apple "));
  }
  tmux.resize({10, 2});
  EXPECT_TRUE(eventually([&] { return tmux.row(0) == "holdfast …"; })) << tmux.screen();
  tmux.resize({80, 24});
  EXPECT_TRUE(row_begins(23, "q quit"));
}

TEST_F(Top, GivesTheTerminalBack) {
  for (const std::string key : {"q", "C-c"}) {
    start();
    tmux.press(key);
    EXPECT_TRUE(tmux.shows("code=0."));
    expect_restored();
    tmux.enter("clear; echo ready");
    ASSERT_TRUE(tmux.hides("code"));
  }
}

TEST_F(Top, GivesTheTerminalBackWhenItIsEnded) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
    start();
    ::kill(pid_of_tool(), signal);
    EXPECT_TRUE(tmux.shows("code=" + std::to_string(128 + signal) + "."));
    expect_restored();
    tmux.enter("clear; echo ready");
    ASSERT_TRUE(tmux.hides("code"));
  }
}

TEST_F(Top, EndsWithItsTerminal) {
  start();
  const pid_t pid = pid_of_tool();
  ::kill(tmux.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(pid); }));
}

TEST_F(Top, StopsAndGoesOn) {
  start();
  const pid_t pid = pid_of_tool();
  tmux.press("C-z");
  ASSERT_TRUE(tmux.shows("Stopped"));
  EXPECT_EQ(state_of(pid), 'T');
  EXPECT_EQ(tmux.variable("alternate_on"), "0");
  EXPECT_EQ(tmux.variable("cursor_flag"), "1");
  tmux.enter("clear; fg");
  EXPECT_TRUE(row_begins(3, "apple "));
  EXPECT_EQ(tmux.variable("alternate_on"), "1");
  tmux.type("n");
  EXPECT_TRUE(row_begins(3, "bread ")) << "it hears keys again";
  tmux.type("q");
  EXPECT_TRUE(eventually([&] { return !alive(pid); }));
  EXPECT_EQ(tmux.variable("alternate_on"), "0");
}

TEST_F(Top, StopsWhenItIsToldTo) {
  start();
  ::kill(pid_of_tool(), SIGTSTP);
  ASSERT_TRUE(tmux.shows("Stopped"));
  EXPECT_EQ(tmux.variable("alternate_on"), "0");
  tmux.enter("fg");
  EXPECT_TRUE(row_begins(3, "apple "));
}

TEST_F(Top, DrawsAgainAfterItWasStoppedWithoutNotice) {
  start();
  const pid_t pid = pid_of_tool();
  ::kill(pid, SIGSTOP);
  ASSERT_TRUE(tmux.shows("Stopped"));
  tmux.enter("clear; fg");
  EXPECT_TRUE(row_begins(3, "apple "));
  EXPECT_TRUE(tmux.hides("Stopped"));
  tmux.type("q");
  EXPECT_TRUE(eventually([&] { return !alive(pid); }));
}

TEST_F(Top, DrawsAgainOnDemand) {
  start();
  tmux.type("?");
  ASSERT_TRUE(tmux.shows("sort by waiters"));
  std::ofstream(tmux.variable("pane_tty")) << "\x1b[6;1Hscribble" << std::flush;
  ASSERT_TRUE(tmux.shows("scribble"));
  tmux.press("C-l");
  EXPECT_TRUE(tmux.hides("scribble"));
}

TEST_F(Top, HasColoursUnlessTheyAreRefused) {
  start();
  EXPECT_THAT(tmux.painted_screen(), ContainsRegex("\x1b\\[[0-9;]*36m"));
  tmux.type("q");
  ASSERT_TRUE(tmux.shows("code=0."));
  tmux.enter("clear");
  start("NO_COLOR=1 $tool top");
  EXPECT_THAT(tmux.painted_screen(), Not(ContainsRegex("\x1b\\[[0-9;]*3[0-7]m")));
  EXPECT_THAT(tmux.painted_screen(), ContainsRegex("7m(\x1b\\[[0-9]+m)*apple")) << "the selection";
}

TEST_F(Top, NeedsATerminal) {
  const auto expect_refusal = [](const Finished& finished) {
    EXPECT_EQ(finished.code, 64);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr("'holdfast ls'"));
    EXPECT_THAT(finished.errors, HasSubstr("'holdfast watch'"));
  };
  expect_refusal(run(tool({"top"}), with_store()));
  tmux.enter("$tool top | cat; echo codes=${PIPESTATUS[*]}.");
  EXPECT_TRUE(tmux.shows("codes=64 0."));
  tmux.enter("$tool top </dev/null; echo no-input=$?.");
  EXPECT_TRUE(tmux.shows("no-input=64."));
  tmux.enter("TERM=dumb $tool top; echo dumb=$?.");
  EXPECT_TRUE(tmux.shows("dumb=64."));
}

TEST_F(Top, NeedsTheStoreAtFirst) {
  std::ofstream(folder / "garbage") << std::string(8192, 'x');
  tmux.enter("$tool top --url sqlite:" + (folder / "garbage").string() + "; echo code=$?.");
  EXPECT_TRUE(tmux.shows("code=69."));
  EXPECT_THAT(tmux.screen(), HasSubstr("damaged"));
}

TEST_F(Top, KeepsThePictureWhileTheStoreIsAway) {
  using std::filesystem::rename;
  std::filesystem::create_directory(folder / "store");
  const std::string movable = "sqlite:" + (folder / "store/locks.db").string();
  Client there(movable);
  const Hold hold = Mutex(there, "movable").acquire();
  start("$tool top --url " + movable);
  EXPECT_TRUE(row_begins(3, "movable "));
  rename(folder / "store", folder / "away");
  std::ofstream(folder / "store").flush();  // in the way of a new one
  EXPECT_TRUE(row_begins(1, "this is "));
  EXPECT_THAT(tmux.row(1), HasSubstr(" old: "));
  EXPECT_THAT(tmux.row(3), StartsWith("movable "));
  tmux.type("?");
  EXPECT_TRUE(tmux.shows("sort by waiters")) << "it still hears keys";
  tmux.press("Escape");
  std::filesystem::remove(folder / "store");
  rename(folder / "away", folder / "store");
  EXPECT_TRUE(tmux.hides(" old: "));
  EXPECT_TRUE(tmux.shows(" holder")) << tmux.screen();
}

TEST_F(Top, DrawsEachFrameInOneWrite) {
  const std::string log = (folder / "writes").string();
  // A leak checker cannot work in a program that is traced.
  start("ASAN_OPTIONS=detect_leaks=0 strace -f -qq -s 100000 -e trace=write -o " + log + " $tool top");
  tmux.type("n");
  ASSERT_TRUE(row_begins(3, "bread "));
  tmux.type("q");
  ASSERT_TRUE(tmux.shows("code=0."));

  std::istringstream lines(read_file(log));
  std::vector<std::string> writes;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" write(1, ") != std::string::npos) writes.push_back(line);
  }
  ASSERT_GE(writes.size(), 4U);
  EXPECT_THAT(writes.front(), HasSubstr("\\33[?1049h"));
  EXPECT_THAT(writes.back(), HasSubstr("\\33[?1049l"));
  for (auto frame = writes.begin() + 1; frame != writes.end() - 1; ++frame) {
    EXPECT_THAT(*frame, ContainsRegex("write\\(1, \"[\\]33\\[H.*holdfast top.*q quit"));
    EXPECT_THAT(*frame, Not(HasSubstr("[2J"))) << "to clear is to flicker";
  }
}

}  // namespace
}  // namespace holdfast::test
