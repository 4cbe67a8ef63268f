#include <gmock/gmock.h>

#include "cli/command.hpp"
#include "cli/world.hpp"
#include "holdfast/version.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

TEST(Help, ListsAllSubcommands) {
  for (const std::vector<std::string>& words : {tool({"help"}), tool({"--help"}), tool({"-h"})}) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.code, 0);
    for (const cli::CommandEntry* entry : cli::all_commands()) {
      EXPECT_THAT(finished.output, HasSubstr("\n  " + std::string(entry->name) + " "));
    }
    EXPECT_EQ(finished.errors, "");
  }
}

TEST(Help, IsGivenWhereverTheStoreIsNamed) {
  const std::string all = run(tool({"help"})).output;
  const std::string of_ls = run(tool({"help", "ls"})).output;
  for (const auto& [words, expected] :
       {std::pair(tool({"--url", "sqlite:/x.db", "--help"}), all), std::pair(tool({"-u", "sqlite:/x.db", "-h"}), all),
        std::pair(tool({"--url=sqlite:/x.db", "help"}), all),
        std::pair(tool({"--url", "sqlite:/x.db", "help", "ls"}), of_ls),
        std::pair(tool({"--url", "sqlite:/x.db", "ls", "--help"}), of_ls),
        std::pair(tool({"--password-file", "/x", "--help", "ls"}), of_ls)}) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.output, expected);
  }
}

/// A person gets what there is to know, a script its exit code.
TEST(Help, IsWhatWhoeverSaysNothingGets) {
  const Finished finished = run(tool({}));
  EXPECT_EQ(finished.code, 64);
  EXPECT_EQ(finished.output, run(tool({"help"})).output);
  EXPECT_EQ(finished.errors, "");
}

TEST(Help, OfEachSubcommandHasAnExample) {
  for (const cli::CommandEntry* entry : cli::all_commands()) {
    const std::string name(entry->name);
    const Finished by_name = run(tool({"help", name}));
    EXPECT_EQ(by_name.code, 0);
    EXPECT_THAT(by_name.output, HasSubstr("Usage: holdfast " + name));
    EXPECT_THAT(by_name.output, HasSubstr("\n  holdfast " + name));
    EXPECT_EQ(run(tool({name, "--help"})).output, by_name.output);
    EXPECT_EQ(run(tool({name, "x", "-h"})).output, by_name.output);
  }
}

TEST(Help, OfRunNamesTheFormOfItsCommand) {
  EXPECT_THAT(run(tool({"help", "run"})).output, HasSubstr("Usage: holdfast run NAME [FLAGS] -- CMD [ARG...]\n"));
}

TEST(Help, BehindTheDashesIsForTheCommand) {
  const auto folder = new_folder();
  const Finished finished = run(tool(
      {"run", "x", "-u", "sqlite:" + (folder / "locks.db").string(), "--", "sh", "-c", "echo \"$1\"", "sh", "--help"}));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(finished.output, "--help\n");
}

TEST(Version, IsTheLibrarys) {
  const std::string expected = "holdfast " + std::string(version) + "\n";
  EXPECT_EQ(run(tool({"version"})).output, expected);
  EXPECT_EQ(run(tool({"--version"})).output, expected);
  EXPECT_EQ(run(tool({"-V"})).output, expected);
}

TEST(Version, OpensNoStore) {
  const Finished finished = run(tool({"version"}), {.environment = {"HOLDFAST_URL=nosuchstore:"}});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.errors, "");
}

}  // namespace
}  // namespace holdfast::test
