#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "cli/command_line.hpp"
#include "cli/shell.hpp"
#include "cli/world.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/semaphore.hpp"

namespace holdfast::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  std::istringstream stream(text);
  Words lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// As bash fills COMP_WORDS: split at blanks, and around `:` and `=`.
Words split_like_bash(const std::string& line) {
  Words words = {""};
  const auto next = [&] {
    if (!words.back().empty()) words.emplace_back();
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_break = line[i] == ':' || line[i] == '=';
    if (line[i] == ' ' || is_break) next();
    if (line[i] == '\\') words.back() += line[i++];
    if (line[i] != ' ' || (i > 0 && line[i - 1] == '\\')) words.back() += line[i];
    if (is_break && i + 1 < line.size()) next();
  }
  return words;
}

/// Some locks, the three scripts in the case's folder, and a PATH on which the shells find the tool.
class Completion : public World {
 protected:
  Completion() {
    for (const char* shell : {"bash", "zsh", "fish"}) {
      const Finished finished = run(tool({"completion", shell}));
      EXPECT_EQ(finished.code, 0) << finished.errors;
      std::ofstream(script(shell)) << finished.output;
    }
  }

  /// The zsh one has the name by which zsh finds it in its `fpath`.
  std::string script(const std::string& shell) const {
    return (folder / (shell == "zsh" ? "_holdfast" : "completion." + shell)).string();
  }

  Start start() const {
    Start start = with_store();
    const std::string tools = std::filesystem::path(HOLDFAST_TOOL).parent_path();
    start.environment.push_back("PATH=" + tools + ":" + std::getenv("PATH"));
    start.environment.push_back("HOME=" + folder.string());
    return start;
  }

  /// What bash is offered for the end of `line`. `before` may load more completions.
  Words bash(const std::string& line, const std::string& before = ":") const {
    const std::string code = before +
                             "\nsource \"$1\"; COMP_LINE=$2 COMP_POINT=${#2}; shift 2; COMP_WORDS=(\"$@\")\n"
                             "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _holdfast holdfast\n"
                             "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"";
    Words words = {"bash", "--norc", "-c", code, "bash", script("bash"), line};
    for (const std::string& word : split_like_bash(line)) words.push_back(word);
    const Finished finished = run(words, start());
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return lines_of(finished.output);
  }

  /// What fish offers, without descriptions.
  Words fish(const std::string& line) const {
    const std::string code = "source $argv[1]; complete -C $argv[2]";
    const Finished finished = run({"fish", "--no-config", "-c", code, script("fish"), line}, start());
    EXPECT_EQ(finished.code, 0) << finished.errors;
    EXPECT_EQ(finished.errors, "");
    Words words = lines_of(finished.output);
    for (std::string& word : words) word.erase(std::min(word.size(), word.find('\t')));
    return words;
  }

  Client client_{url};
  Hold a_ = Mutex(client_, "jobs/a").acquire();
  Hold b_ = Mutex(client_, "jobs:b c").acquire();
  Hold permits_ = Semaphore(client_, "jobs/a", 2).acquire();
  Hold unprintable_ = Mutex(client_, "two\nlines").acquire();
};

TEST_F(Completion, ScriptsNameEverySubcommandAndFlag) {
  const cli::CommandLine command_line;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string text = read_file(script(shell));
    for (const auto& [entry, parameters, takes_command] : command_line.descriptions()) {
      EXPECT_THAT(text, HasSubstr(entry.name)) << shell;
      for (const cli::Parameter& parameter : parameters) {
        if (parameter.kind == cli::Parameter::Kind::operand) continue;
        const std::string name = parameter.names.substr(parameter.names.find("--"));
        EXPECT_THAT(text, HasSubstr(shell == "fish" ? "-l " + name.substr(2) + " " : name)) << shell;
      }
    }
  }
}

TEST_F(Completion, ScriptsAreWellFormed) {
  for (const Words& check : {Words{"shellcheck", "--shell=bash", script("bash")}, Words{"zsh", "-n", script("zsh")},
                             Words{"fish", "--no-execute", script("fish")}}) {
    const Finished finished = run(check, start());
    EXPECT_EQ(finished.code, 0) << check.front() << ": " << finished.output << finished.errors;
  }
}

TEST_F(Completion, OfAnUnknownShellIsRefused) { EXPECT_EQ(run(tool({"completion", "csh"})).code, 64); }

TEST_F(Completion, OffersEverySubcommandAndFlag) {
  const cli::CommandLine command_line;
  Words names;
  for (const auto& [entry, parameters, takes_command] : command_line.descriptions()) {
    names.emplace_back(entry.name);
    Words flags = {"--help"};
    for (const cli::Parameter& parameter : parameters) {
      if (parameter.kind == cli::Parameter::Kind::operand) continue;
      flags.push_back(parameter.names.substr(parameter.names.find("--")));
    }
    const std::string line = "holdfast " + std::string(entry.name) + " --";
    EXPECT_THAT(bash(line), IsSupersetOf(flags)) << line;
    EXPECT_THAT(fish(line), IsSupersetOf(flags)) << line;
  }
  EXPECT_THAT(bash("holdfast "), testing::UnorderedElementsAreArray(names));
  EXPECT_THAT(fish("holdfast "), testing::UnorderedElementsAreArray(names));
}

TEST_F(Completion, OffersTheChoicesOfAValue) {
  EXPECT_THAT(bash("holdfast run x --on-lost "), ElementsAre("kill", "warn"));
  EXPECT_THAT(bash("holdfast run x --on-lost=w"), ElementsAre("warn"));
  EXPECT_THAT(bash("holdfast completion "), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(bash("holdfast help ru"), ElementsAre("run"));
  EXPECT_THAT(bash("holdfast run x --wait "), IsEmpty());
  EXPECT_THAT(fish("holdfast run x --on-lost "), ElementsAre("kill", "warn"));
  EXPECT_THAT(fish("holdfast run x --on-lost=w"), ElementsAre("--on-lost=warn"));
  EXPECT_THAT(fish("holdfast completion "), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(fish("holdfast help ru"), ElementsAre("run"));
  EXPECT_THAT(fish("holdfast run x --wait "), IsEmpty());
}

TEST_F(Completion, OffersFilesForThePasswordsFile) {
  std::ofstream(folder / "secret") << "x\n";
  const std::string begin = (folder / "sec").string();
  EXPECT_THAT(bash("holdfast ls --password-file " + begin), ElementsAre(begin + "ret"));
  EXPECT_THAT(bash("holdfast ls --password-file=" + begin), ElementsAre(begin + "ret"));
  EXPECT_THAT(fish("holdfast ls --password-file " + begin), ElementsAre(begin + "ret"));
  EXPECT_THAT(bash("holdfast ls " + begin), IsEmpty());
  EXPECT_THAT(fish("holdfast ls " + begin), IsEmpty());
}

TEST_F(Completion, OffersTheNamesOfLocks) {
  for (const char* subcommand : {"show", "run", "ls", "elect", "break", "watch"}) {
    const std::string line = "holdfast " + std::string(subcommand) + " ";
    EXPECT_THAT(bash(line), ElementsAre("jobs/a", "jobs:b\\ c")) << line;
    EXPECT_THAT(fish(line), ElementsAre("jobs/a", "jobs:b c")) << line;
  }
  EXPECT_THAT(bash("holdfast show jobs:"), ElementsAre("b\\ c")) << "bash replaces only what is behind the colon";
  EXPECT_THAT(bash("holdfast show --json jobs/"), ElementsAre("jobs/a"));
  EXPECT_THAT(fish("holdfast show --json jobs/"), ElementsAre("jobs/a"));
  EXPECT_THAT(bash("holdfast show x jobs"), IsEmpty()) << "it takes one name";
  EXPECT_THAT(fish("holdfast show x jobs"), IsEmpty());
}

TEST_F(Completion, AsksTheStoreThatWasTyped) {
  const std::string other = "sqlite:" + (folder / "other.db").string();
  Client client(other);
  const Hold hold = Mutex(client, "elsewhere").acquire();
  for (const std::string& flags : {"-u " + other, "--url " + other, "--url=" + other}) {
    EXPECT_THAT(bash("holdfast show " + flags + " "), ElementsAre("elsewhere")) << flags;
    EXPECT_THAT(fish("holdfast show " + flags + " "), ElementsAre("elsewhere")) << flags;
  }
  EXPECT_THAT(bash("holdfast show -u $other "), IsEmpty()) << "whose value is not known";
}

TEST_F(Completion, BehindTheDashesIsForTheCommand) {
  const std::string more = "source /usr/share/bash-completion/bash_completion";
  for (const std::string& before : {std::string(":"), more}) {
    EXPECT_THAT(bash("holdfast run x -u a:b -- shellche", before), Contains("shellcheck"));
    EXPECT_THAT(bash("holdfast run x -- cat " + (folder / "_hold").string(), before), ElementsAre(script("zsh")));
  }
  EXPECT_THAT(bash("holdfast run x -u a:b -- ls --revers", more), ElementsAre("--reverse"));
  EXPECT_THAT(fish("holdfast run x -- shellche"), Contains("shellcheck"));
  EXPECT_THAT(fish("holdfast run x -- cat " + (folder / "_hold").string()), ElementsAre(script("zsh")));
  EXPECT_THAT(fish("holdfast run x -- holdfast sho"), ElementsAre("show"));
}

/// On a terminal, with keys. What was typed comes back as the arguments of a function that stands in for the tool.
class CompletionOnTerminal : public Completion {
 protected:
  void begin(const std::string& interpreter, const std::string& load) {
    const std::string path = std::filesystem::path(HOLDFAST_TOOL).parent_path();
    shell_.type("export PATH='" + path + "':$PATH; exec " + interpreter + "\n");
    shell_.type(load + "; holdfast() { printf '<%s>' \"$@\"; echo; }; echo lo\"\"aded\n");
    ASSERT_TRUE(shell_.shows("loaded")) << shell_.screen();
  }

  void expect(const std::string& typed, const std::string& shown) {
    shell_.type("holdfast " + typed + "\t\n");
    EXPECT_TRUE(shell_.shows(shown + "\r\n", std::chrono::seconds(10))) << typed << " in:\n" << shell_.screen();
  }

  Shell shell_{url};
};

TEST_F(CompletionOnTerminal, WorksInBash) {
  begin("bash --norc --noprofile -i", "source '" + script("bash") + "'");
  expect("sho", "<show>");
  expect("show --js", "<show><--json>");
  expect("show jobs:", "<show><jobs:b c>");
  expect("run x --on-lost=w", "<run><x><--on-lost=warn>");
  expect("run x -- shellche", "<run><x><--><shellcheck>");
}

TEST_F(CompletionOnTerminal, WorksInZsh) {
  begin("zsh -f -i", "fpath=('" + folder.string() + "' $fpath); autoload -U compinit; compinit -u -D");
  expect("sho", "<show>");
  expect("show --js", "<show><--json>");
  expect("show jobs:", "<show><jobs:b c>");
  expect("show -u sqlite:/nosuch/file jobs:", "<show><-u><sqlite:/nosuch/file><jobs:>");
  expect("run x --on-lost=w", "<run><x><--on-lost=warn>");
  expect("completion f", "<completion><fish>");
  expect("ls --password-file '" + folder.string() + "'/_hold", "<ls><--password-file><" + script("zsh") + ">");
  expect("run x -- shellche", "<run><x><--><shellcheck>");
  expect("run x -- ls " + (folder / "_hold").string(), "<run><x><--><ls><" + script("zsh") + ">");
}

TEST_F(CompletionOnTerminal, WorksInZshWhenSourced) {
  begin("zsh -f -i", "autoload -U compinit; compinit -u -D; source '" + script("zsh") + "'");
  expect("sho", "<show>");
  expect("show jobs:", "<show><jobs:b c>");
}

TEST_F(Completion, NamesAreListedOnceEach) {
  const Finished finished = run(tool({"ls", "--names"}), with_store());
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(lines_of(finished.output), ElementsAre("jobs/a", "jobs:b c", "two\\nlines"));
  EXPECT_THAT(lines_of(run(tool({"ls", "--names", "jobs/"}), with_store()).output), ElementsAre("jobs/a"));
  const Finished none = run(tool({"ls", "--names", "nothing"}), with_store());
  EXPECT_EQ(none.code, 0);
  EXPECT_EQ(none.output, "");
  EXPECT_EQ(run(tool({"ls", "--names", "--json"}), with_store()).code, 64);
}

}  // namespace
}  // namespace holdfast::test
