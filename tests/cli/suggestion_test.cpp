#include "cli/text/suggestion.hpp"

#include <gtest/gtest.h>

namespace holdfast::cli {
namespace {

TEST(Suggestion, IsWhatWasProbablyMeant) {
  const std::vector<std::string> known = {"run", "elect", "show", "watch", "version", "--json", "--ttl", "--wait"};
  EXPECT_EQ(nearest("rum", known), "run");
  EXPECT_EQ(nearest("urn", known), "run") << "two letters were exchanged";
  EXPECT_EQ(nearest("wtach", known), "watch");
  EXPECT_EQ(nearest("versoin", known), "version");
  EXPECT_EQ(nearest("--jsn", known), "--json");
  EXPECT_EQ(nearest("--tll", known), "--ttl");
}

TEST(Suggestion, IsNotMadeUp) {
  const std::vector<std::string> known = {"run", "ls", "elect", "--ttl"};
  for (const char* word : {"", "x", "ab", "lsit", "frobnicate", "--", "--a", "--password"})
    EXPECT_EQ(nearest(word, known), "") << word;
  EXPECT_EQ(nearest(std::string(100'000, 'x'), known), "");
  EXPECT_EQ(suggestion("frobnicate", known), "");
  EXPECT_EQ(suggestion("rum", known), " (did you mean 'run'?)");
}

}  // namespace
}  // namespace holdfast::cli
