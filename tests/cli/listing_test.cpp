#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/semaphore.hpp"
#include "support/background.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

/// One lock that the tool holds and somebody else waits for, and one that the test holds.
class Listing : public World {
 protected:
  Listing() : waiter_([this](std::stop_token stop) { return wait(std::move(stop)); }) {}

  void SetUp() override {
    start_run("jobs/a", {"--reason", "because", "--ttl", "30s"}, "echo $$ >$dir/pid; exec sleep 60");
    command_ = pid_in("pid");
    holding_ = true;
    ASSERT_TRUE(gets_a_waiter("jobs/a"));
  }

  Json json(std::vector<std::string> arguments) {
    const Finished finished = run(tool(std::move(arguments)), with_store());
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.errors, "");
    return Json::parse(finished.output);
  }

  Client client_{url, {.label = "tester"}};
  Hold other_ = Mutex(client_, "other\nlock").acquire();
  pid_t command_ = -1;

 private:
  Hold wait(std::stop_token stop) {
    eventually([&] { return holding_.load(); });
    return Mutex(client_, "jobs/a", {.reason = "patient"}).acquire(std::move(stop));
  }

  std::atomic<bool> holding_{false};
  Background<Hold> waiter_;
};

TEST_F(Listing, ShowsEveryLockInATable) {
  const Finished finished = run(tool({"ls"}), with_store());
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.errors, "") << "only the default store is announced";
  std::istringstream lines(finished.output);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, MatchesRegex("NAME +MODE +HOLDER +SINCE +TTL +TOKEN +WAITERS"));
  std::getline(lines, line);
  EXPECT_THAT(line, MatchesRegex("jobs/a +exclusive +.*:[0-9]+ \\(sh\\) +.* ago +[0-9]+s +[0-9]+ +1"));
  std::getline(lines, line);
  EXPECT_THAT(line, MatchesRegex("other\\\\nlock +exclusive +.* \\(tester\\) +.* ago +.*s +[0-9]+ +0"));
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(Listing, ShowsThoseWithAPrefix) {
  const Json locks = json({"ls", "jobs/", "--json"});
  ASSERT_EQ(locks.size(), 1U);
  EXPECT_EQ(locks[0]["name"], "jobs/a");
  const Finished none = run(tool({"ls", "nothing"}), with_store());
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.output, "");
  EXPECT_THAT(none.errors, HasSubstr("'nothing'"));
  EXPECT_EQ(json({"ls", "nothing", "--json"}), Json::array());
}

TEST_F(Listing, IsJsonOnDemand) {
  const Json locks = json({"ls", "--json"});
  ASSERT_EQ(locks.size(), 2U);
  EXPECT_EQ(locks[1]["name"], "other\nlock");
  const Json lock = json({"show", "jobs/a", "--json"});
  EXPECT_EQ(lock["mode"], "exclusive");
  EXPECT_GT(std::stoull(lock["token"].get<std::string>()), 0U);
  const Json& holder = lock["holders"].at(0);
  EXPECT_EQ(holder["reason"], "because");
  EXPECT_EQ(holder["command"], "sh");
  EXPECT_EQ(holder["label"], "");
  EXPECT_GT(holder["ttl_ms"].get<int>(), 15'000);
  EXPECT_LE(holder["ttl_ms"].get<int>(), 30'000);
  EXPECT_THAT(holder["since"].get<std::string>(), MatchesRegex("20..-..-..T..:..:..\\....Z"));
  EXPECT_EQ(holder["client"].get<std::string>().size(), 32U);
  const Json& waiter = lock["waiters"].at(0);
  EXPECT_EQ(waiter["reason"], "patient");
  EXPECT_EQ(waiter["label"], "tester");
}

TEST_F(Listing, ShowsTheHoldersToken) {
  const std::string token = json({"show", "jobs/a", "--json"})["token"];
  const std::string environment = read_file("/proc/" + std::to_string(command_) + "/environ");
  EXPECT_THAT(environment, HasSubstr("HOLDFAST_TOKEN=" + token + std::string(1, '\0')));
}

TEST_F(Listing, ShowsOneLockInFull) {
  const Finished finished = run(tool({"show", "jobs/a"}), with_store());
  EXPECT_EQ(finished.code, 0);
  for (const char* text : {"jobs/a\n", "mode: ", "token: ", "pid ", "command:  sh\n", "reason:   because\n", " ago\n",
                           " left\n", "waiters:    1\n", "  1. ", "(tester)", "patient"}) {
    EXPECT_THAT(finished.output, HasSubstr(text));
  }
}

TEST_F(Listing, ShowsOtherThingsOfTheSameName) {
  Client client(url);
  const Hold permits = Semaphore(client, "jobs/a", 5).acquire(2);
  Election election(client, "jobs/a");
  election.campaign("me");

  const Json locks = json({"ls", "jobs/", "--json"});
  ASSERT_EQ(locks.size(), 3U);
  EXPECT_EQ(locks[0]["mode"], "exclusive");
  EXPECT_EQ(locks[1]["mode"], "permits");
  EXPECT_EQ(locks[1]["total"], 5);
  EXPECT_EQ(locks[2]["mode"], "election");
  for (const Json& lock : locks) EXPECT_EQ(lock["name"], "jobs/a");
  const Finished finished = run(tool({"show", "jobs/a"}), with_store());
  EXPECT_THAT(finished.output, HasSubstr("permits:    2/5 taken\n"));
  EXPECT_THAT(finished.output, HasSubstr("election"));
  const Json shown = json({"show", "jobs/a", "--json"});
  EXPECT_EQ(shown["mode"], "exclusive");
  ASSERT_EQ(shown["also"].size(), 2U);
  EXPECT_EQ(shown["also"][0]["mode"], "permits");
  EXPECT_EQ(shown["also"][0]["taken"], 2);
  EXPECT_EQ(shown["also"][1]["mode"], "election");
  EXPECT_THAT(run(tool({"ls"}), with_store()).output, HasSubstr("permits 2/5"));
}

TEST_F(Listing, SaysWhyInItsLongForm) {
  for (const char* flag : {"-l", "--long"}) {
    const Finished finished = run(tool({"ls", "jobs/", flag}), with_store());
    EXPECT_THAT(finished.output, HasSubstr("  REASON\n"));
    EXPECT_THAT(finished.output, HasSubstr("  because\n"));
  }
  EXPECT_THAT(run(tool({"ls", "other", "-l"}), with_store()).output, HasSubstr("  -\n")) << "it did not say why";
}

TEST_F(Listing, ShowsAFreeLockAsFree) {
  const Finished finished = run(tool({"show", "nobody's"}), with_store());
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.output, HasSubstr("nobody's is free"));
  const Json lock = json({"show", "nobody's", "--json"});
  EXPECT_EQ(lock["mode"], "free");
  EXPECT_EQ(lock["token"], "0");
  EXPECT_EQ(lock["holders"], Json::array());
  EXPECT_EQ(lock["waiters"], Json::array());
}

}  // namespace
}  // namespace holdfast::test
