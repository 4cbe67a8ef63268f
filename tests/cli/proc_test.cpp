// Descendants are found through /proc. Where that is not possible, nothing is started.

#include <gmock/gmock.h>

#include "cli/world.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class Proc : public World {
 protected:
  /// `holdfast SUBCOMMAND x -- touch ran` in a shell that first does `before`, with namespaces of its own.
  Finished run_inside(const std::vector<std::string>& unshare, const std::string& before,
                      const std::string& subcommand = "run") {
    std::vector<std::string> words = {"unshare"};
    words.insert(words.end(), unshare.begin(), unshare.end());
    const std::string command =
        before + "exec '" + tool({}).front() + "' " + subcommand + " x -- touch '" + (folder / "ran").string() + "'";
    for (const std::string& word : {std::string("sh"), std::string("-c"), command}) words.push_back(word);
    return run(words, with_store());
  }
  bool ran() const { return std::filesystem::exists(folder / "ran"); }
};

TEST_F(Proc, OfAnotherPidNamespaceIsRefused) {
  for (const char* subcommand : {"run", "elect"}) {
    const Finished finished = run_inside({"--pid", "--fork"}, "", subcommand);
    EXPECT_EQ(finished.code, 78);
    EXPECT_THAT(finished.errors, HasSubstr("/proc shows the processes of another pid namespace"));
    EXPECT_FALSE(ran());
  }
}

TEST_F(Proc, OfItsOwnPidNamespaceWillDo) {
  const Finished finished = run_inside({"--pid", "--fork", "--mount-proc"}, "");
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_TRUE(ran());
}

TEST_F(Proc, ThatIsNotMountedIsRefused) {
  const Finished finished = run_inside({"--mount"}, "mount -t tmpfs none /proc && ");
  EXPECT_EQ(finished.code, 78);
  EXPECT_THAT(finished.errors, HasSubstr("/proc is not mounted"));
  EXPECT_FALSE(ran());
}

TEST_F(Proc, ThatIsCoveredLaterIsNoHindrance) {
  // The tool has its own view of the file system, which somebody changes while it runs.
  const std::string script = "mount -t tmpfs none /proc; setsid sleep 60 & echo $! >" + (folder / "stray").string() +
                             "; echo $$ >" + (folder / "command").string() + "; wait";
  Process& process = start({"unshare", "--mount", tool({}).front(), "run", "x", "--", "sh", "-c", script});
  pid_in("command");
  pid_in("stray");
  process.signal(SIGKILL);
  EXPECT_TRUE(all_end({"command", "stray"}));
}

}  // namespace
}  // namespace holdfast::test
