// The table in README.md is complete and names only cases that exist.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

const std::filesystem::path all_tests = HOLDFAST_SOURCE_DIR "/tests";
const std::filesystem::path folder = all_tests / "conformance";

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// What is in each match of `pattern`'s first group.
std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

/// The behaviours' ids and what README.md says about where they are covered.
std::map<std::string, std::string> table() {
  std::map<std::string, std::string> rows;
  std::ifstream readme(folder / "README.md");
  const std::regex row(R"(\| ([A-Z]+\d+) \| [^|]+ \| ([^|]+) \|)");
  std::smatch match;
  for (std::string line; std::getline(readme, line);) {
    if (std::regex_match(line, match, row)) rows[match[1]] = match[2];
  }
  return rows;
}

TEST(ConformanceReadme, EveryBehaviourHasALine) {
  const auto rows = table();
  const auto expect = [&](const std::string& prefix, int last, int digits) {
    for (int number = 1; number <= last; ++number) {
      std::ostringstream id;
      id << prefix << std::setw(digits) << std::setfill('0') << number;
      EXPECT_TRUE(rows.contains(id.str())) << id.str();
    }
  };
  expect("M", 60, 2);
  expect("RM", 10, 1);
  expect("RW", 16, 2);
  expect("S", 14, 2);
  expect("ML", 10, 1);
  expect("EL", 16, 2);
  expect("RG", 11, 1);
  expect("OP", 10, 1);
  expect("ID", 14, 2);
}

TEST(ConformanceReadme, EveryCaseItNamesExists) {
  std::set<std::string> cases;
  std::set<std::string> elsewhere;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(all_tests)) {
    if (entry.path().extension() != ".cpp") continue;
    const bool here = entry.path().parent_path() == folder;
    (here ? cases : elsewhere).merge(matches(text_of(entry.path()), R"(TEST(?:_[PF])?\(\w+, (\w+)\))"));
  }
  EXPECT_GT(cases.size(), 100u);
  for (const auto& [id, where] : table()) {
    const auto named = matches(where, "`(\\w+)`");
    EXPECT_TRUE(!named.empty() || where.starts_with("later: ") || where.starts_with("never: ")) << id;
    const auto& known = where.starts_with("elsewhere") ? elsewhere : cases;
    for (const std::string& name : named) EXPECT_TRUE(known.contains(name)) << id << ": " << name;
  }
}

}  // namespace
