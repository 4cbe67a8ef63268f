// Whatever is wrong: one or two lines on standard error that say what, and what to do; the right exit code.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "cli/world.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Mistakes : public World {
 protected:
  /// Runs the tool, which must fail with `code` and say `text`.
  void expect_error(const std::vector<std::string>& arguments, int code, const std::string& text) {
    const Finished finished = run(tool(arguments), with_store());
    EXPECT_EQ(finished.code, code) << testing::PrintToString(arguments) << finished.errors;
    EXPECT_THAT(finished.errors, HasSubstr(text));
    EXPECT_TRUE(finished.errors.starts_with("holdfast: ")) << finished.errors;
    EXPECT_LE(std::count(finished.errors.begin(), finished.errors.end(), '\n'), 2) << finished.errors;
    EXPECT_EQ(finished.output, "");
  }
};

TEST_F(Mistakes, OfTheCommandLineAre64) {
  expect_error({"rum"}, 64, "there is no subcommand 'rum' (did you mean 'run'?)");
  expect_error({"help", "rum"}, 64, "'rum'");
  expect_error({"lsit"}, 64, "'lsit'");
  expect_error({"electt"}, 64, "did you mean 'elect'?");
  expect_error({"--json", "ls"}, 64, "only --url and --password-file may stand before the subcommand, not '--json'");
  expect_error({"--url", "memory:"}, 64, "'holdfast help'");
  expect_error({"--url"}, 64, "--url takes exactly one value");
  expect_error({"version", "extra"}, 64, "unexpected 'extra'");
  expect_error({"ls", "--jason"}, 64, "unexpected '--jason' (did you mean '--json'?)");
  expect_error({"run", "x", "--tll=5s", "--", "true"}, 64, "unexpected '--tll' (did you mean '--ttl'?)");
  expect_error({"ls", "a", "b"}, 64, "unexpected 'b'");
  expect_error({"show"}, 64, "NAME");
  expect_error({"run"}, 64, "holdfast run NAME [FLAGS] -- CMD");
  expect_error({"run", "x"}, 64, "after '--'");
  expect_error({"run", "x", "true"}, 64, "after '--'");
  expect_error({"run", "x", "--"}, 64, "no command follows '--'");
  expect_error({"run", "--", "true"}, 64, "NAME");
  expect_error({"run", "x", "y", "--", "true"}, 64, "unexpected 'y'");
  expect_error({"run", "x", "--shard", "--", "true"}, 64, "unexpected '--shard'");
  expect_error({"run", "x", "--ttl", "--", "true"}, 64, "--ttl takes exactly one value");
  expect_error({"run", "x", "--ttl", "10", "--", "true"}, 64, "--ttl: '10' is not a duration");
  expect_error({"run", "x", "--wait", "soon", "--", "true"}, 64, "--wait: 'soon' is not a duration");
  expect_error({"run", "x", "--ttl", "999ms", "--", "true"}, 64, "--ttl");
  expect_error({"run", "x", "--ttl", "9999h", "--", "true"}, 64, "ttl");
  expect_error({"run", "x", "--try", "--wait", "1s", "--", "true"}, 64, "--try excludes --wait");
}

TEST_F(Mistakes, InANameAre64) {
  expect_error({"run", "", "--", "true"}, 64, "name must not be empty");
  expect_error({"show", std::string(513, 'x')}, 64, "513 bytes");
  expect_error({"show", "\xff"}, 64, "UTF-8");
  expect_error({"run", "x", "--reason", std::string(1025, 'r'), "--", "true"}, 64, "reason");
}

TEST_F(Mistakes, InTheUrlAre78) {
  expect_error({"ls", "-u", "nosuchstore:"}, 78, "nosuchstore:");
  expect_error({"ls", "--url", "no-url-at-all"}, 78, "URL");
  expect_error({"ls", "--url", ""}, 78, "--url is empty");
  expect_error({"run", "x", "-u", "nosuchstore://h", "--", "true"}, 78, "nosuchstore:");
  expect_error({"show", "x", "-u", "memory:?unknown=1"}, 78, "memory:");
}

TEST_F(Mistakes, InThePathOfTheUrlAre78AndCreateNothing) {
  const std::string url = "sqlite:" + (folder / "nope" / "dir" / "x.db").string();
  expect_error({"ls", "-u", url}, 78, "nope' does not exist");
  expect_error({"run", "x", "-u", url, "--", "true"}, 78, "nope' does not exist");
  EXPECT_FALSE(std::filesystem::exists(folder / "nope"));
}

/// Neither in the subcommand's place nor behind it does the URL make a difference.
TEST_F(Mistakes, AreNoneIfTheUrlStandsBeforeTheSubcommand) {
  for (const std::vector<std::string>& words :
       {tool({"--url", url, "run", "x", "--", "echo", "ran"}), tool({"-u", url, "run", "x", "--", "echo", "ran"}),
        tool({"--url=" + url, "run", "x", "--", "echo", "ran"}), tool({"-u" + url, "run", "x", "--", "echo", "ran"})}) {
    const Finished finished = run(words, {.environment = {"HOLDFAST_URL=nosuchstore:"}});
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.output, "ran\n");
  }
}

TEST_F(Mistakes, OfAStoreThatExcludesNobodyAre78) {
  for (const char* subcommand : {"run", "elect"}) {
    expect_error({subcommand, "x", "-u", "memory:", "--", "echo", "ran"}, 78, "would exclude nobody");
    expect_error({subcommand, "x", "-u", "memory:name", "--", "echo", "ran"}, 78, "would exclude nobody");
  }
}

/// Texts that say it twice, or in the words of the library.
TEST_F(Mistakes, AreSaidOnce) {
  const Finished finished = run(tool({"ls", "-u", "no-url-at-all"}));
  EXPECT_THAT(finished.errors, Not(HasSubstr("bad store URL")));
  const Finished silent = run(tool({"run", "x", "-u", "redis://127.0.0.1:1", "--", "true"}));
  EXPECT_EQ(silent.code, 69);
  EXPECT_THAT(silent.errors, HasSubstr("within 5 s"));
  EXPECT_THAT(silent.errors, HasSubstr("Connection refused"));
  EXPECT_THAT(silent.errors, Not(HasSubstr("connect_timeout")));
  EXPECT_THAT(silent.errors, Not(HasSubstr("the store cannot be reached")));
}

TEST_F(Mistakes, OfAFileThatMayNotBeUsedAre77) {
  using std::filesystem::perms;
  if (::geteuid() == 0) {  // who may write everywhere, but is not given a stranger's file
    std::ofstream(folder / "locks.db").flush();
    ASSERT_EQ(::chown((folder / "locks.db").c_str(), 54321, 54321), 0);
  } else {
    std::filesystem::permissions(folder, perms::owner_read | perms::owner_exec);
  }
  expect_error({"ls"}, 77, "locks.db");
  expect_error({"run", "x", "--", "true"}, 77, "locks.db");
  std::filesystem::permissions(folder, perms::owner_all);
}

TEST_F(Mistakes, OfAStoreThatCannotServeAre69) {
  std::ofstream(folder / "locks.db") << std::string(8192, 'x');  // no database
  expect_error({"ls"}, 69, "locks.db");
  expect_error({"run", "x", "--", "true"}, 69, "locks.db");
}

TEST_F(Mistakes, InTheCommandAre126And127) {
  expect_error({"run", "x", "--", "no-such-command"}, 127, "'no-such-command'");
  expect_error({"run", "x", "--", "/no/such/command"}, 127, "'/no/such/command'");
  expect_error({"run", "x", "--", folder}, 126, "denied");
  std::ofstream(folder / "plain") << "text";
  expect_error({"run", "x", "--", folder / "plain"}, 126, "denied");
  EXPECT_TRUE(becomes_free("x"));
}

TEST_F(Mistakes, OfAFullDiskAreNoticed) {
  const Finished finished = run({"sh", "-c", "\"$0\" version >/dev/full", tool({}).front()});
  EXPECT_EQ(finished.code, 70);
  EXPECT_THAT(finished.errors, HasSubstr("standard output"));
}

TEST_F(Mistakes, OfAClosedOutputAreNoticed) {
  EXPECT_EQ(run({"sh", "-c", "\"$0\" version >&-", tool({}).front()}).code, 70);
}

TEST_F(Mistakes, OfAUserWithoutAHomeAre78) {
  ASSERT_EQ(::geteuid(), 0U) << "only root can be somebody else";
  const Finished finished =
      run({"setpriv", "--reuid=54321", "--clear-groups", tool({}).front(), "ls"}, {.environment = {"HOLDFAST_URL="}});
  EXPECT_EQ(finished.code, 78);
  EXPECT_THAT(finished.errors, HasSubstr("user 54321 has no home"));
}

}  // namespace
}  // namespace holdfast::test
