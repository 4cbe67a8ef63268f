#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/targets.hpp"

namespace holdfast::fuzz {
namespace {

/// What the fuzzers have found or were given, once more, with whatever sanitizers this build has.
class Corpus : public testing::TestWithParam<NamedTarget> {};

TEST_P(Corpus, IsHandled) {
  const std::filesystem::path folder = std::filesystem::path(HOLDFAST_FUZZ_CORPUS) / GetParam().name;
  std::size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    GetParam().run(std::string(std::istreambuf_iterator<char>(file), {}));
    ++inputs;
  }
  EXPECT_GT(inputs, 0U) << folder;
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace holdfast::fuzz
