#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "cli/command_line.hpp"
#include "cli/world.hpp"
#include "holdfast/version.hpp"

namespace holdfast::test {
namespace {

using testing::HasSubstr;

class ManPage : public World {
 protected:
  ManPage() {
    const Finished finished = run(tool({"help", "--man"}));
    EXPECT_EQ(finished.code, 0);
    std::ofstream(file()) << finished.output;
  }

  std::string file() const { return folder / "holdfast.1"; }
  /// As people read it.
  std::string text() const {
    const Finished finished =
        run({"man", "--warnings", "-l", file()}, {.environment = {"MANWIDTH=1000", "LC_ALL=C", "PAGER=cat"}});
    EXPECT_EQ(finished.code, 0);
    EXPECT_EQ(finished.errors, "");
    return finished.output;
  }
};

TEST_F(ManPage, HasNoWarnings) {
  const Finished finished = run({"groff", "-man", "-Tascii", "-ww", "-z", file()});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output + finished.errors, "");
}

TEST_F(ManPage, HasAllSections) {
  const std::string page = text();
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "SUBCOMMANDS", "STORES", "DURATIONS", "EXIT STATUS",
                              "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"}) {
    EXPECT_THAT(page, HasSubstr("\n" + std::string(section) + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("holdfast " + std::string(version)));
  EXPECT_THAT(page, HasSubstr("flock(1)"));
}

TEST_F(ManPage, DescribesEverySubcommandAndFlag) {
  const std::string page = text();
  const cli::CommandLine command_line;
  for (const auto& [entry, parameters, takes_command] : command_line.descriptions()) {
    EXPECT_THAT(page, HasSubstr("\n   holdfast " + std::string(entry.name)));
    EXPECT_THAT(page, HasSubstr(std::string(entry.summary) + "."));
    for (const cli::Parameter& parameter : parameters) {
      EXPECT_THAT(page, HasSubstr(parameter.names.substr(parameter.names.find(',') + 1)));
      EXPECT_THAT(page, HasSubstr(parameter.help)) << entry.name;
    }
    EXPECT_THAT(page, HasSubstr("\n           holdfast " + std::string(entry.name))) << "an example";
  }
}

TEST_F(ManPage, ListsEveryExitCode) {
  const std::string page = text();
  const std::string status = page.substr(page.find("\nEXIT STATUS\n"));
  const auto source = HOLDFAST_SOURCE_DIR "/src/cli/exit_code.hpp";
  const std::string header = read_file(source);
  const std::regex constant("inline constexpr int \\w+ = (\\d+);");
  int found = 0;
  for (std::sregex_iterator match(header.begin(), header.end(), constant), end; match != end; ++match, ++found) {
    EXPECT_THAT(status, HasSubstr("\n       " + (*match)[1].str() + " "));
  }
  EXPECT_GT(found, 5);
}

TEST_F(ManPage, NamesTheStoresOfThisBuild) {
  const std::string page = text();
  // The library's own list, from its message.
  const Finished refused = run(tool({"ls", "-u", "nosuchstore:"}));
  const std::regex scheme("'(\\w+:)'");
  const std::string known = refused.errors.substr(refused.errors.find("knows"));
  int found = 0;
  for (std::sregex_iterator match(known.begin(), known.end(), scheme), end; match != end; ++match, ++found) {
    EXPECT_THAT(page, HasSubstr("\n       " + (*match)[1].str()));
  }
  EXPECT_GT(found, 0);
}

TEST_F(ManPage, IsOfTheWholeTool) { EXPECT_EQ(run(tool({"help", "run", "--man"})).code, 64); }

}  // namespace
}  // namespace holdfast::test
