#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/look/break_marks.hpp"
#include "cli/shell.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "support/background.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class Watching : public World {
 protected:
  Process& watch(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), "watch");
    process_ = std::make_unique<Process>(tool(std::move(arguments)), with_store());
    EXPECT_TRUE(eventually([&] { return process_->errors().find("watching") != std::string::npos; }));
    return *process_;
  }
  /// Whether it prints a line that matches, sooner or later.
  bool prints(const std::string& regex) {
    return eventually([&] {
      std::istringstream lines(process_->output());
      for (std::string line; std::getline(lines, line);) {
        if (testing::Value(line, MatchesRegex(regex))) return true;
      }
      return false;
    });
  }
  static std::string event(const std::string& word, const std::string& name, const std::string& token) {
    return "20..-..-..T..:..:..\\....Z  " + word + " +" + name + " +.*:[0-9]+ \\(tester\\) +" + token;
  }

  Client client{url, {.label = "tester"}};

 private:
  std::unique_ptr<Process> process_;
};

TEST_F(Watching, BeginsWithWhatIsThere) {
  const Hold hold = Mutex(client, "x").acquire();
  watch();
  EXPECT_TRUE(prints(event("held", "x", std::to_string(hold.token().value()))));
}

TEST_F(Watching, TellsWhatAnOperatorBroke) {
  const Hold hold = Mutex(client, "x").acquire();
  Process& process = watch();
  ASSERT_EQ(run(tool({"break", "x", "--yes"}), with_store()).code, 0);
  EXPECT_TRUE(prints(event("broken", "x", "[1-9][0-9]*"))) << process.output();
  Hold next = Mutex(client, "x").acquire();
  ASSERT_TRUE(prints(event("acquired", "x", "[1-9][0-9]*"))) << process.output();
  next.release();
  EXPECT_TRUE(prints(event("released", "x", "[1-9][0-9]*"))) << process.output();
}

TEST_F(Watching, NewestMarksOfAnOperatorAreKept) {
  for (int round = 0; round < 40; ++round) {
    cli::leave_mark(client, {.name = "x" + std::to_string(round), .up_to = 7});
  }
  const auto marks = cli::read_marks(client);
  EXPECT_EQ(marks.size(), 32U);
  EXPECT_TRUE(cli::is_marked(marks, "x39", LockKind::lock, 7));
  EXPECT_FALSE(cli::is_marked(marks, "x0", LockKind::lock, 7));
}

TEST_F(Watching, TellsWhatHappens) {
  Client other(url, {.label = "tester"});
  Process& process = watch();
  Hold hold = Mutex(client, "x").acquire();
  ASSERT_TRUE(prints(event("acquired", "x", "[1-9][0-9]*"))) << process.output();
  {
    Background waiter([&](std::stop_token stop) { return Mutex(other, "x").acquire(std::move(stop)); });
    ASSERT_TRUE(prints(event("waiting", "x", "-"))) << process.output();
    waiter.cancel();
    EXPECT_TRUE(prints(event("left", "x", "-"))) << process.output();
  }
  hold.release();
  EXPECT_TRUE(prints(event("released", "x", "[1-9][0-9]*"))) << process.output();
}

TEST_F(Watching, SaysThatItSamples) {
  Process& process = watch();
  EXPECT_THAT(process.errors(), HasSubstr("4 times a second"));
  EXPECT_EQ(process.output(), "");
}

TEST_F(Watching, TellsALeaseThatRanOut) {
  Process& process = watch();
  // Whoever looks too late, on a busy machine, does not know why it ended.
  bool told = false;
  for (int round = 0; round < 10 && !told; ++round) {
    const Hold hold = Mutex(client, "x", {.ttl = 1s, .lease = LeaseKind::fixed}).acquire();
    ASSERT_TRUE(eventually([&] { return !hold.valid(); }));
    told = eventually(1s, [&] { return process.output().find("  expired ") != std::string::npos; });
  }
  EXPECT_TRUE(told) << process.output();
  EXPECT_TRUE(prints(event("expired", "x", "[0-9]+")));
}

TEST_F(Watching, KeepsToThePrefix) {
  const Hold other = Mutex(client, "other").acquire();
  Process& process = watch({"jobs/"});
  const Hold hold = Mutex(client, "jobs/a").acquire();
  EXPECT_TRUE(prints(event("acquired", "jobs/a", "[0-9]+")));
  EXPECT_THAT(process.output(), Not(HasSubstr("other")));
}

TEST_F(Watching, AlignsItsLines) {
  const Hold one = Mutex(client, "a").acquire();
  const Hold two = Mutex(client, "b").acquire();
  Process& process = watch();
  ASSERT_TRUE(prints(event("held", "b", "[0-9]+")));
  std::istringstream lines(process.output());
  std::string first;
  std::string second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_EQ(first.find("a  "), second.find("b  "));
  EXPECT_EQ(first.find(" (tester)"), second.find(" (tester)"));
}

TEST_F(Watching, IsJsonOnDemand) {
  Process& process = watch({"--json"});
  const Hold hold = Mutex(client, "x\ny", {.reason = "because"}).acquire();
  ASSERT_TRUE(prints(".*\"acquired\".*"));
  const std::string output = process.output();
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1);
  const Json change = Json::parse(output);
  EXPECT_EQ(change["event"], "acquired");
  EXPECT_THAT(change["time"].get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\....Z"));
  EXPECT_EQ(change["name"], "x\ny");
  EXPECT_EQ(change["mode"], "exclusive");
  EXPECT_EQ(change["token"], std::to_string(hold.token().value()));
  EXPECT_EQ(change["client"], client.identity().id);
  EXPECT_EQ(change["label"], "tester");
  EXPECT_EQ(change["reason"], "because");
  EXPECT_GT(change["ttl_ms"].get<int>(), 0);
}

TEST_F(Watching, ShowsNothingThatATerminalObeys) {
  const Hold hold = Mutex(client, "x\x1b[2J").acquire();
  watch();
  EXPECT_TRUE(prints(event("held", "x\\\\x1b\\[2J", "[0-9]+")));
}

TEST_F(Watching, EndsOfASignal) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Process& process = watch();
    process.signal(signal);
    EXPECT_EQ(process.finish().code, 128 + signal);
  }
}

TEST_F(Watching, EndsQuietlyWhenNobodyReads) {
  const Hold hold = Mutex(client, "x").acquire();
  // Nothing happens after the first line, so no write can fail.
  const Finished finished =
      run({"bash", "-c", "\"$0\" watch | head -n 1; echo codes=${PIPESTATUS[*]}.", tool({}).front()}, with_store());
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.output, HasSubstr("held"));
  EXPECT_THAT(finished.output, HasSubstr("codes=141 0."));
  EXPECT_EQ(std::count(finished.errors.begin(), finished.errors.end(), '\n'), 1) << finished.errors;
}

TEST_F(Watching, NeedsAnOutput) {
  EXPECT_EQ(run({"sh", "-c", "\"$0\" watch >&-", tool({}).front()}, with_store()).code, 70);
}

TEST_F(Watching, CtrlCEndsIt) {
  Shell shell(url);
  shell.type("$tool watch; echo code=$?.\n");
  ASSERT_TRUE(shell.shows("watching"));
  shell.type(Shell::ctrl_c);
  EXPECT_TRUE(shell.shows("code=130."));
}

TEST_F(Watching, HasColoursUnlessTheyAreRefused) {
  const Hold hold = Mutex(client, "x").acquire();
  Shell shell(url);
  shell.type("$tool watch; echo code=$?.\n");
  EXPECT_TRUE(shell.shows("\x1b[32mheld"));
  shell.type(Shell::ctrl_c);
  ASSERT_TRUE(shell.shows("code=130."));
  shell.type("NO_COLOR=1 $tool watch; echo code=$?.\n");
  EXPECT_TRUE(shell.shows("Z  held"));
}

TEST_F(Watching, NeedsTheStoreAtFirst) {
  std::ofstream(folder / "garbage") << std::string(8192, 'x');
  const Finished finished = run(tool({"watch", "--url", "sqlite:" + (folder / "garbage").string()}));
  EXPECT_EQ(finished.code, 69) << finished.errors;
  EXPECT_THAT(finished.errors, Not(HasSubstr("watching")));
}

TEST_F(Watching, SurvivesAStoreThatIsAwayForAWhile) {
  using std::filesystem::rename;
  std::filesystem::create_directory(folder / "store");
  const std::string movable = "sqlite:" + (folder / "store/locks.db").string();
  Process& process = watch({"--url", movable});
  rename(folder / "store", folder / "away");
  std::ofstream(folder / "store").flush();  // in the way of a new one
  EXPECT_TRUE(eventually([&] { return process.errors().find("does not answer: ") != std::string::npos; }));
  std::filesystem::remove(folder / "store");
  rename(folder / "away", folder / "store");
  EXPECT_TRUE(eventually([&] { return process.errors().find("answers again") != std::string::npos; }));

  Client there(movable, {.label = "tester"});
  const Hold hold = Mutex(there, "x").acquire();
  EXPECT_TRUE(prints(event("acquired", "x", "[0-9]+")));
  const std::string errors = process.errors();
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 3) << "each is said once: " << errors;
}

}  // namespace
}  // namespace holdfast::test
