// The demonstration as its users see it, with real kills and pauses.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <regex>
#include <sstream>

#include "cli/shell.hpp"
#include "cli/text/output.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"

namespace holdfast::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

int count(const std::string& text, const std::string& wanted) {
  int found = 0;
  for (std::size_t at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++found;
  return found;
}

/// The text of one act, with its heading.
std::string act(const std::string& output, int number) {
  const std::size_t begin = output.find("Act " + std::to_string(number) + ":");
  if (begin == std::string::npos) return "";
  const std::size_t end = output.find("\n\n", begin);
  return output.substr(begin, end - begin);
}

class Demo : public World {
 protected:
  Demo() { fs::create_directory(temporary); }

  /// The demonstration's own folder is then below `temporary`; the store of the user must not be touched.
  Start start() const { return {.environment = {"TMPDIR=" + temporary.string(), "HOLDFAST_URL=" + url}}; }
  bool leaves_no_folder() const { return fs::is_empty(temporary); }
  static std::vector<pid_t> hosts_of(pid_t tool) {
    std::vector<pid_t> hosts;
    eventually([&] { return (hosts = children_of(tool)).size() == 2; });
    EXPECT_EQ(hosts.size(), 2U);
    return hosts;
  }
  static bool all_gone(const std::vector<pid_t>& pids) {
    return eventually([&] { return std::none_of(pids.begin(), pids.end(), alive); });
  }
  static bool prints(const Process& process, const std::string& text) {
    return eventually([&] { return process.output().find(text) != std::string::npos; });
  }

  fs::path temporary = folder / "tmp";
};

TEST_F(Demo, TellsItsStory) {
  const Finished finished = run(tool({"demo", "--fast"}), start());
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_EQ(finished.errors, "");
  EXPECT_EQ(count(act(finished.output, 1), "SMS sent"), 2);
  EXPECT_EQ(count(act(finished.output, 2), "SMS sent"), 1);
  EXPECT_THAT(act(finished.output, 2), ContainsRegex("host-b  done already this hour: skips\n=> 1 message: "));
  EXPECT_EQ(count(act(finished.output, 3), "SMS sent"), 1);
  EXPECT_THAT(act(finished.output, 3), AllOf(ContainsRegex("host-a  KILLED \\(kill -9\\)\n.* host-b  gets the lock"),
                                             ContainsRegex("host-b had the lock [0-9.]+m?s after the kill")));
  EXPECT_EQ(count(act(finished.output, 4), "SMS sent"), 1);
  EXPECT_THAT(finished.output, HasSubstr("\n  holdfast help run\n"));
  EXPECT_TRUE(leaves_no_folder());
  EXPECT_FALSE(fs::exists(folder / "locks.db")) << "the user's store was touched";
}

TEST_F(Demo, RefusesTheSmallerToken) {
  const std::string paused = act(run(tool({"demo", "--fast"}), start()).output, 4);
  std::smatch refused;
  std::smatch compared;
  ASSERT_TRUE(std::regex_search(paused, refused, std::regex("host-a  xx SMS REFUSED .*: token ([0-9]+) is old")));
  ASSERT_TRUE(std::regex_search(paused, compared, std::regex("host-a ([0-9]+) < host-b ([0-9]+)\n?")));
  EXPECT_EQ(refused[1], compared[1]);
  EXPECT_LT(std::stoull(compared[1]), std::stoull(compared[2]));
}

TEST_F(Demo, IsOneLinePerEventInAPipe) {
  const Finished finished = run(tool({"demo", "--fast"}), start());
  EXPECT_THAT(finished.output, Not(HasSubstr("\x1b")));
  EXPECT_THAT(finished.output, Not(ContainsRegex("[^ -~\n]"))) << "only ASCII";
  EXPECT_GE(count(finished.output, "s  host-a  "), 12);
  EXPECT_GE(count(finished.output, "s  host-b  "), 12);
}

TEST_F(Demo, TakesItsTimeUnlessItIsToldToHurry) {
  const auto before = std::chrono::steady_clock::now();
  Process process(tool({"demo"}), start());
  EXPECT_EQ(process.finish(std::chrono::seconds(90)).code, 0);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::seconds(15)) << "nobody can read that fast";
}

TEST_F(Demo, LeavesNoLockInANamedStore) {
  const Finished finished = run(tool({"demo", "--fast", "--url", url}), start());
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_TRUE(fs::exists(folder / "locks.db"));
  EXPECT_TRUE(Client(url).list().empty());
  EXPECT_TRUE(leaves_no_folder());
}

TEST_F(Demo, NeedsAStoreForTwoProcesses) {
  const Finished finished = run(tool({"demo", "--fast", "--url", "memory:"}), start());
  EXPECT_EQ(finished.code, 78);
  EXPECT_THAT(finished.errors, HasSubstr("serves only one"));
  EXPECT_TRUE(leaves_no_folder());
}

// The controls: with a hand in the game, the story goes wrong, and the demonstration says so.
TEST_F(Demo, SaysSoWhenAnOperatorTakesTheLockAway) {
  Process process(tool({"demo", "--url", url}), start());
  ASSERT_TRUE(prints(process, "Act 3"));
  Client client(url);
  std::vector<LockStatus> locks;
  ASSERT_TRUE(eventually([&] {
    locks = client.list("demo/");
    return !locks.empty() && !locks[0].waiters.empty();
  }));
  EXPECT_TRUE(client.evict(locks[0].name));
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 70);
  EXPECT_THAT(finished.errors, HasSubstr("this act did not come out as it should: host-b did not take over when"));
  EXPECT_THAT(finished.output, Not(HasSubstr("after the kill")));
}

TEST_F(Demo, SaysSoWhenAHostIsKilledBySomebodyElse) {
  Process process(tool({"demo"}), start());
  ::kill(hosts_of(process.pid()).front(), SIGKILL);
  const Finished finished = process.finish();
  EXPECT_EQ(finished.code, 70);
  EXPECT_THAT(finished.errors, HasSubstr("ended unexpectedly"));
  EXPECT_TRUE(leaves_no_folder());
}

TEST_F(Demo, LeavesNothingBehindWhenItIsTerminated) {
  Process process(tool({"demo", "--fast"}), start());
  ASSERT_TRUE(prints(process, "PAUSED"));
  const std::vector<pid_t> hosts = hosts_of(process.pid());
  process.signal(SIGTERM);
  EXPECT_EQ(process.finish().code, 143);
  EXPECT_TRUE(std::none_of(hosts.begin(), hosts.end(), alive));
  EXPECT_TRUE(leaves_no_folder());
}

TEST_F(Demo, TakesItsHostsAlongWhenItIsKilled) {
  Process process(tool({"demo"}), start());
  const std::vector<pid_t> hosts = hosts_of(process.pid());
  process.signal(SIGKILL);
  EXPECT_TRUE(all_gone(hosts));
}

class DemoOnTerminal : public Demo {
 protected:
  /// What the demonstration shows, when it has come to its end.
  std::string shown_with(const std::string& assignments) {
    const std::size_t before = shell.screen().size();
    shell.type("TMPDIR=" + temporary.string() + " " + assignments + " $tool demo --fast; echo code=$?.\n");
    EXPECT_TRUE(shell.shows("code=0.")) << shell.screen();
    std::string shown = shell.screen().substr(before);
    std::erase(shown, '\r');
    return shown;
  }
  static std::string without_colours(const std::string& text) {
    return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
  }

  Shell shell{url};
};

TEST_F(DemoOnTerminal, HasColouredLanes) {
  const std::string shown = shown_with("LC_ALL=C.UTF-8");
  EXPECT_THAT(shown, AllOf(HasSubstr("\x1b[32m█\x1b[0m"), HasSubstr("\x1b[33m▒\x1b[0m")));
  const std::string text = without_colours(shown);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, ContainsRegex("s  ▒ +│ somebody holds the lock: waits\n"));
  for (const std::string& line : lines_of(text)) EXPECT_LE(cli::width(line), 80U) << line;
}

TEST_F(DemoOnTerminal, HonoursNoColorAndPlainLocales) {
  const std::string shown = shown_with("NO_COLOR=1 LC_ALL=C");
  EXPECT_THAT(shown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shown, Not(ContainsRegex("[^ -~\n]"))) << "only ASCII";
  EXPECT_THAT(shown, ContainsRegex("s  : +\\| somebody holds the lock: waits\n"));
}

TEST_F(DemoOnTerminal, CtrlCLeavesNothingBehind) {
  shell.type("before=$(stty -g); TMPDIR=" + temporary.string() + " sh -c 'echo $$ >" + (folder / "pid").string() +
             "; exec $tool demo --fast'; code=$?; [ \"$before\" = \"$(stty -g)\" ] && echo same code=$code.\n");
  ASSERT_TRUE(shell.shows("PAUSED"));
  const std::vector<pid_t> hosts = hosts_of(pid_in("pid"));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("same code=130."));
  EXPECT_TRUE(std::none_of(hosts.begin(), hosts.end(), alive));
  EXPECT_TRUE(leaves_no_folder());
}

TEST_F(DemoOnTerminal, CtrlZOnlyPausesTheStory) {
  shell.type("TMPDIR=" + temporary.string() + " $tool demo --fast\n");
  ASSERT_TRUE(shell.shows("Act 2"));
  ASSERT_TRUE(shell.shows("waits"));
  shell.type(Shell::ctrl_z);
  ASSERT_TRUE(shell.shows("Stopped"));
  shell.type("fg; echo code=$?.\n");
  EXPECT_TRUE(shell.shows("code=0."));
}

}  // namespace
}  // namespace holdfast::test
