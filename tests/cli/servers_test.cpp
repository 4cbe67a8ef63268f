// The tool on each store that has a server: every command that meets the store does what it does on the embedded one.

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/text/time_text.hpp"
#include "cli/tool.hpp"
#include "stores/fixture.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class ToolOnAServer : public testing::TestWithParam<const FixtureKind*> {
 protected:
  Start with_store() const { return {.environment = {"HOLDFAST_URL=" + url, known_leaks()}}; }
  Finished holdfast(std::vector<std::string> arguments) const { return run(tool(std::move(arguments)), with_store()); }
  bool shows(const std::string& name, const std::string& text) const {
    return eventually([&] { return holdfast({"show", name}).output.find(text) != std::string::npos; });
  }

  const std::unique_ptr<Fixture> store = GetParam()->make_with_own_server();
  const std::string url = store->url();
};

TEST_P(ToolOnAServer, LooksAtALockAndBreaksIt) {
  Process holder(tool({"run", "job", "--reason", "nightly", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("job", "nightly"));
  Process waiter(tool({"run", "job", "--reason", "weekly", "--", "echo", "next"}), with_store());
  ASSERT_TRUE(shows("job", "weekly"));
  EXPECT_THAT(holdfast({"ls"}).output, HasSubstr("job"));
  EXPECT_EQ(holdfast({"run", "job", "--try", "--", "true"}).code, 75);
  EXPECT_EQ(holdfast({"break", "job", "--yes"}).code, 0);
  EXPECT_EQ(holder.finish().code, 79);
  EXPECT_EQ(waiter.finish().output, "next\n");
  EXPECT_THAT(holdfast({"ls"}).output, Not(HasSubstr("job")));
}

TEST_P(ToolOnAServer, TellsWhatHappens) {
  Process watching(tool({"watch"}), with_store());
  ASSERT_TRUE(eventually([&] { return watching.errors().find("watching") != std::string::npos; }));
  Process holder(tool({"run", "job", "--", "sleep", "60"}), with_store());
  EXPECT_TRUE(eventually([&] { return watching.output().find("acquired") != std::string::npos; })) << watching.output();
  holder.signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return watching.output().find("released") != std::string::npos; })) << watching.output();
  EXPECT_EQ(holder.finish().code, 128 + SIGTERM);
}

TEST_P(ToolOnAServer, SharesAndCounts) {
  Process reader(tool({"run", "list", "--shared", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("list", "sleep"));
  EXPECT_EQ(holdfast({"run", "list", "--shared", "--try", "--", "true"}).code, 0);
  EXPECT_EQ(holdfast({"run", "list", "--try", "--", "true"}).code, 75);
  Process one(tool({"run", "pool", "--permits", "1/2", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("pool", "sleep"));
  EXPECT_EQ(holdfast({"run", "pool", "--permits", "1/2", "--try", "--", "true"}).code, 0);
  EXPECT_EQ(holdfast({"run", "pool", "--permits", "2/2", "--try", "--", "true"}).code, 75);
}

TEST_P(ToolOnAServer, KeepsValuesAndKnowsLeaders) {
  EXPECT_EQ(holdfast({"value", "set", "x", "one"}).code, 0);
  EXPECT_THAT(holdfast({"value", "get", "x"}).output, HasSubstr("one"));
  EXPECT_EQ(holdfast({"leader", "scheduler"}).code, 75);
  Process leader(tool({"elect", "scheduler", "--value", "host-7", "--", "sleep", "60"}), with_store());
  EXPECT_TRUE(eventually([&] { return holdfast({"leader", "scheduler"}).output == "host-7\n"; }));
  EXPECT_EQ(holdfast({"run", "daily", "--once-per", "1h", "--", "echo", "ran"}).output, "ran\n");
  EXPECT_EQ(holdfast({"run", "daily", "--once-per", "1h", "--", "echo", "ran"}).output, "");
}

TEST_P(ToolOnAServer, SaysWhatItPromises) {
  const Finished finished = run(tool({"version", "--url", url}), with_store());
  EXPECT_EQ(finished.code, 0) << finished.errors;
  const std::chrono::milliseconds shortest = GetParam()->capabilities.min_ttl;
  EXPECT_THAT(finished.output, HasSubstr(shortest.count() > 0 ? "shortest " + cli::human(shortest) +
                                                                    " with the usual settings of servers"
                                                              : "shortest 20ms"));
}

/// A lease of the length that was asked for, or a word about it: etcd gives whole seconds.
TEST_P(ToolOnAServer, SaysWhenTheLeaseIsLonger) {
  const Finished odd = holdfast({"run", "job", "--ttl", "2500ms", "--", "true"});
  EXPECT_EQ(odd.code, 0);
  EXPECT_EQ(odd.errors, GetParam()->capabilities.lease_unit == std::chrono::seconds(1)
                            ? "holdfast: the lease of 'job' is 3s, because the store does not grant one of 2.5s\n"
                            : "");
  EXPECT_EQ(holdfast({"run", "job", "--ttl", "10s", "--", "true"}).errors, "");
}

/// A holder that is stopped does not renew: what is left becomes less.
TEST_P(ToolOnAServer, CountsTheLeaseDown) {
  Process holder(tool({"run", "job", "--ttl", "10s", "--on-lost", "warn", "--", "sleep", "60"}), with_store());
  ASSERT_TRUE(shows("job", "sleep"));
  holder.signal(SIGSTOP);
  const auto has_less_than = [&](int milliseconds) {
    const auto lock = nlohmann::json::parse(holdfast({"show", "job", "--json"}).output);
    return !lock["holders"].empty() && lock["holders"][0]["ttl_ms"] < milliseconds;
  };
  EXPECT_TRUE(eventually([&] { return has_less_than(5500); }));
  holder.signal(SIGCONT);
}

/// Called through PATH, a program is told only its name, which may also be that of a folder where it is called.
TEST_P(ToolOnAServer, LoadsNothingThatLiesWhereItIsCalled) {
  const auto here = new_folder();
  std::filesystem::create_directory(here / "holdfast");
  for (const char* name : {"libholdfast-etcd.so", "holdfast/libholdfast-etcd.so"}) {
    std::ofstream(here / name) << "planted";
  }
  const std::string script = "cd '" + here.string() + "' && PATH=\"${0%/*}:$PATH\" && exec holdfast ls";
  const Finished finished = run({"sh", "-c", script, tool({}).front()}, with_store());
  EXPECT_EQ(finished.code, 0) << finished.errors;
  std::filesystem::remove_all(here);
}

TEST_P(ToolOnAServer, RunsNothingWhereDescendantsCannotBeFound) {
  const Finished finished =
      run({"unshare", "--pid", "--fork", tool({}).front(), "run", "job", "--", "echo", "ran"}, with_store());
  EXPECT_EQ(finished.code, 78);
  EXPECT_EQ(finished.output, "");
  EXPECT_THAT(finished.errors, HasSubstr("/proc shows the processes of another pid namespace"));
}

/// A quarter of the lease where a renewal proves all of it, whether it is the lease of a lock or of a client; and also
/// in a client's first lease, which this one is.
TEST_P(ToolOnAServer, GivesACommandTimeToEnd) {
  const auto folder = new_folder();
  const std::string asked = (folder / "asked").string();
  const std::string pid = (folder / "pid").string();
  Process holder(tool({"run", "job", "--ttl", "12s", "--grace", "1m", "--", "sh", "-c",
                       "trap 'touch " + asked + "' TERM; echo $$ >" + pid + "; while :; do sleep 0.1; done"}),
                 with_store());
  ASSERT_TRUE(eventually([&] { return read_file(pid).ends_with('\n'); }));
  store->server()->pause();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(asked); }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return !alive(std::stoi(read_file(pid))); }));
  const auto given = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  const int least = GetParam()->capabilities.proves_lease_late ? 800 : 2400;  // of 1.4 s and 2.9 s
  EXPECT_GE(given.count(), least);
  EXPECT_EQ(holder.finish().code, 79);
  store->server()->resume();
  std::filesystem::remove_all(folder);
}

TEST_P(ToolOnAServer, SaysThatTheServerIsGone) {
  const std::string port = url.substr(url.rfind(':') + 1);
  store->server()->stop();
  for (const auto& arguments : {std::vector<std::string>{"ls"}, {"run", "job", "--", "echo", "ran"}}) {
    const Finished finished = holdfast(arguments);
    EXPECT_EQ(finished.code, 69);
    EXPECT_EQ(finished.output, "");
    EXPECT_THAT(finished.errors, HasSubstr(port));
  }
}

INSTANTIATE_TEST_SUITE_P(Store, ToolOnAServer, testing::ValuesIn(kinds_where([](const Capabilities& can) {
                           return can.has_server && can.servers == 1 && can.shared && can.permits && can.lists;
                         })),
                         name_of_store);

}  // namespace
}  // namespace holdfast::test
