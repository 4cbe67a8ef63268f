#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "holdfast/ids/text.hpp"

namespace holdfast::ids {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
constexpr std::array all_forms = {TextForm::decimal, TextForm::hex, TextForm::base62, TextForm::crockford};
constexpr std::array sorting_forms = {TextForm::hex, TextForm::base62, TextForm::crockford};

/// Numbers of all lengths, and each with its neighbours.
std::vector<std::uint64_t> numbers() {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> all = {0, 1, 9, 10, 31, 32, 61, 62, 63, largest - 1, largest};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t number = random() >> (random() % 64);
    all.insert(all.end(), {number - 1, number, number + 1});
  }
  return all;
}

TEST(IdText, WritesKnownNumbers) {
  EXPECT_EQ(to_text(0, TextForm::decimal), "0");
  EXPECT_EQ(to_text(0, TextForm::hex), "0000000000000000");
  EXPECT_EQ(to_text(0, TextForm::base62), "00000000000");
  EXPECT_EQ(to_text(0, TextForm::crockford), "0000000000000");

  EXPECT_EQ(to_text(61, TextForm::base62), "0000000000z");
  EXPECT_EQ(to_text(62, TextForm::base62), "00000000010");
  EXPECT_EQ(to_text(36, TextForm::base62), "0000000000a");
  EXPECT_EQ(to_text(31, TextForm::crockford), "000000000000Z");
  EXPECT_EQ(to_text(1234, TextForm::crockford), "000000000016J");
  EXPECT_EQ(to_text(0x0123'4567'89ab'cdef, TextForm::hex), "0123456789abcdef");

  // 2^64 - 1, computed by other means.
  EXPECT_EQ(to_text(largest, TextForm::decimal), "18446744073709551615");
  EXPECT_EQ(to_text(largest, TextForm::hex), "ffffffffffffffff");
  EXPECT_EQ(to_text(largest, TextForm::base62), "LygHa16AHYF");
  EXPECT_EQ(to_text(largest, TextForm::crockford), "FZZZZZZZZZZZZ");

  // The examples of the header.
  EXPECT_EQ(to_text(1541815603606036480, TextForm::hex), "1565a11f6217a000");
  EXPECT_EQ(to_text(1541815603606036480, TextForm::base62), "1ptWyK4WgZU");
  EXPECT_EQ(to_text(1541815603606036480, TextForm::crockford), "1ASD13XH1F800");
}

TEST(IdText, IsReadBack) {
  for (const TextForm form : all_forms) {
    for (const std::uint64_t number : numbers()) ASSERT_EQ(from_text(to_text(number, form), form), number);
  }
}

TEST(IdText, SortsAsTheNumbersDoIfItsLengthIsFixed) {
  std::vector<std::uint64_t> sorted = numbers();
  std::sort(sorted.begin(), sorted.end());
  for (const TextForm form : sorting_forms) {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      ASSERT_LE(to_text(sorted[i - 1], form), to_text(sorted[i], form));
    }
  }
}

TEST(IdText, IsReadInEitherCaseWhereCasesMeanTheSame) {
  EXPECT_EQ(from_text("0123456789ABCDEF", TextForm::hex), 0x0123'4567'89ab'cdef);
  EXPECT_EQ(from_text("1asd13xh1f800", TextForm::crockford), 1541815603606036480);
  EXPECT_EQ(from_text("IaSd13xHlF8oO", TextForm::crockford), 1541815603606036480);
  EXPECT_EQ(from_text("l000000000000", TextForm::crockford), from_text("1000000000000", TextForm::crockford));
  EXPECT_NE(from_text("0000000000a", TextForm::base62), from_text("0000000000A", TextForm::base62));
}

TEST(IdText, RefusesWhatItWouldNotHaveWritten) {
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "01", "00", "1.0", "18446744073709551616",
                           "184467440737095516150", "99999999999999999999"}) {
    EXPECT_FALSE(from_text(text, TextForm::decimal)) << text;
  }
  for (const char* text : {"", "1", "000000000000000", "00000000000000000", "000000000000000g", "0x00000000000000",
                           "-000000000000001", "000000000000000 "}) {
    EXPECT_FALSE(from_text(text, TextForm::hex)) << text;
  }
  for (const char* text : {"", "0", "0000000000", "000000000000", "0000000000-", "0000000000_", "LygHa16AHYG",
                           "LygHa16AHZ0", "zzzzzzzzzzz"}) {
    EXPECT_FALSE(from_text(text, TextForm::base62)) << text;
  }
  for (const char* text : {"", "0", "000000000000", "00000000000000", "000000000000U", "000000000000u", "000000-000000",
                           "G000000000000", "ZZZZZZZZZZZZZ"}) {
    EXPECT_FALSE(from_text(text, TextForm::crockford)) << text;
  }
  for (const TextForm form : all_forms) {
    const std::string right = to_text(largest, form);
    for (std::size_t at = 0; at < right.size(); ++at) {
      for (const char wrong : {'\0', ' ', '\x7f', '\x80', '\xff', '/', ':', '@', '[', '`', '{'}) {
        std::string text = right;
        text[at] = wrong;
        ASSERT_FALSE(from_text(text, form)) << text;
      }
    }
  }
}

TEST(IdText, IsNotWrittenWhereItHasNoRoom) {
  for (const TextForm form : all_forms) {
    const std::string right = to_text(largest, form);
    std::string room(right.size() + 2, '#');
    char* const first = room.data() + 1;
    char* const last = first + right.size();
    EXPECT_EQ(to_chars(first, last - 1, largest, form).ec, std::errc::value_too_large);
    room.assign(right.size() + 2, '#');
    const auto [end, error] = to_chars(first, last, largest, form);
    EXPECT_EQ(error, std::errc());
    EXPECT_EQ(end, last);
    EXPECT_EQ(room, "#" + right + "#");
  }
}

}  // namespace
}  // namespace holdfast::ids
