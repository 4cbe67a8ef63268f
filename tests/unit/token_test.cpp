#include "holdfast/token.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <unordered_set>

namespace holdfast {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();

TEST(Token, IsOrderedByItsValue) {
  EXPECT_LT(Token(), Token(1));
  EXPECT_LT(Token(255), Token(256));
  EXPECT_EQ(Token(7), Token(7));
}

TEST(Token, IsWrittenInDecimal) {
  std::ostringstream out;
  out << Token() << ' ' << Token(largest);
  EXPECT_EQ(out.str(), "0 18446744073709551615");
  EXPECT_EQ(out.str(), to_string(Token()) + ' ' + to_string(Token(largest)));
}

/// Thousands in threes.
struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return ','; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Token, IsWrittenWithoutRegardForTheBaseAndTheLocale) {
  std::ostringstream out;
  out.imbue(std::locale(std::locale::classic(), new Grouping));
  out << std::hex << std::setw(6) << Token(4711);
  EXPECT_EQ(out.str(), "  4711");
}

TEST(Token, CanBeAKey) {
  const std::unordered_set<Token> tokens = {Token(1), Token(2), Token(1)};
  EXPECT_EQ(tokens.size(), 2u);
  EXPECT_TRUE(tokens.contains(Token(2)));
}

#ifdef __cpp_lib_format
TEST(Token, IsFormattedAsANumber) {
  EXPECT_EQ(std::format("{} {:>6}", Token(largest), Token(4711)), "18446744073709551615   4711");
}
#endif

}  // namespace
}  // namespace holdfast
