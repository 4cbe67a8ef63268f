#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "holdfast/ids/uuid.hpp"

namespace holdfast::ids {
namespace {

static_assert(sizeof(Uuid) == 16 && std::is_trivially_copyable_v<Uuid>);
static_assert(Uuid() < Uuid(0, 1) && Uuid(0, ~std::uint64_t{0}) < Uuid(1, 0) && Uuid(1, 0) < Uuid::max());

struct Example {
  const char* text;
  int version;
};

/// RFC 9562, appendices A and B.
constexpr Example examples[] = {
    {"c232ab00-9414-11ec-b3c8-9f6bdeced846", 1}, {"5df41881-3aed-3515-88a7-2f4a814cf09e", 3},
    {"919108f7-52d1-4320-9bac-f847db4148a8", 4}, {"2ed6657d-e927-568b-95e1-2665a8aea6a2", 5},
    {"1ec9414c-232a-6b00-b3c8-9f6bdeced846", 6}, {"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 7},
    {"2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 8}, {"5c146b14-3c52-8afd-938a-375d0df1fbf6", 8},
};

std::vector<Uuid> many() {
  std::mt19937_64 random(1);
  std::vector<Uuid> all = {Uuid(), Uuid::max()};
  for (int i = 0; i < 10'000; ++i) all.emplace_back(random(), random());
  return all;
}

TEST(Uuid, ReadsAndWritesTheExamplesOfTheRfc) {
  for (const auto& [text, version] : examples) {
    const auto uuid = Uuid::parse(text);
    ASSERT_TRUE(uuid) << text;
    EXPECT_EQ(to_string(*uuid), text);
    EXPECT_EQ(uuid->version(), version) << text;
    EXPECT_EQ(uuid->time().has_value(), version == 7) << text;
  }
  EXPECT_EQ(to_string(Uuid()), "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(to_string(Uuid::max()), "ffffffff-ffff-ffff-ffff-ffffffffffff");
  EXPECT_EQ(Uuid::parse("00000000-0000-0000-0000-000000000000"), Uuid());
  EXPECT_EQ(Uuid::parse("FFFFFFFF-ffff-FFFF-ffff-FFFFFFFFFFFF"), Uuid::max());
  EXPECT_EQ(Uuid().version(), std::nullopt);
  EXPECT_EQ(Uuid::max().version(), std::nullopt);
}

TEST(Uuid, HasTheTimeThatTheRfcSays) {
  using namespace std::chrono;
  // Tuesday, February 22, 2022 2:22:22.00 PM GMT-05:00
  const sys_time<milliseconds> expected = sys_days(2022y / February / 22) + hours(19) + minutes(22) + seconds(22);
  EXPECT_EQ(Uuid::parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")->time(), expected);
  // The last of the format is later than what nanoseconds of 64 bits can say.
  EXPECT_EQ(Uuid::parse("ffffffff-ffff-7000-8000-000000000000")->time(),
            sys_time<milliseconds>(milliseconds((std::int64_t{1} << 48) - 1)));
  EXPECT_EQ(Uuid::parse("017f22e2-79b0-7cc3-d8c4-dc0c0c07398f")->time(), std::nullopt) << "another variant";
}

TEST(Uuid, IsItsBytesInTheOrderOfTheText) {
  const Uuid uuid = *Uuid::parse("00112233-4455-6677-8899-aabbccddeeff");
  const Uuid::Bytes bytes = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                             0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
  EXPECT_EQ(uuid.bytes(), bytes);
  EXPECT_EQ(std::memcmp(&uuid, bytes.data(), bytes.size()), 0);
  EXPECT_EQ(uuid, Uuid(bytes));
  EXPECT_EQ(uuid, Uuid(0x0011223344556677, 0x8899aabbccddeeff));
  EXPECT_EQ(uuid.high(), 0x0011223344556677U);
  EXPECT_EQ(uuid.low(), 0x8899aabbccddeeffU);
}

TEST(Uuid, IsReadBackInEitherCase) {
  for (const Uuid& uuid : many()) {
    std::string text = to_string(uuid);
    ASSERT_EQ(text.size(), Uuid::text_length);
    ASSERT_EQ(Uuid::parse(text), uuid);
    for (char& digit : text) digit = static_cast<char>(std::toupper(digit));
    ASSERT_EQ(Uuid::parse(text), uuid);
  }
}

TEST(Uuid, SortsAsItsTextDoes) {
  std::vector<Uuid> all = many();
  std::sort(all.begin(), all.end());
  for (std::size_t i = 1; i < all.size(); ++i) ASSERT_LT(to_string(all[i - 1]), to_string(all[i]));
}

TEST(Uuid, RefusesMalformedTexts) {
  const std::string right = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
  for (const std::string& text :
       {std::string(), std::string("0"), right.substr(1), right + "0", " " + right, right + "\n", "{" + right + "}",
        "urn:uuid:" + right, std::string("017f22e279b07cc398c4dc0c0c07398f"),
        std::string("017f22e2-79b07-cc3-98c4-dc0c0c07398f"), std::string("017f22e2:79b0:7cc3:98c4:dc0c0c07398f"),
        std::string("017f22e-279b0-7cc3-98c4-dc0c0c07398f"), std::string(36, '-'), std::string(36, '0')}) {
    EXPECT_FALSE(Uuid::parse(text)) << text;
  }
  for (std::size_t at = 0; at < right.size(); ++at) {
    for (int character = 0; character < 256; ++character) {
      std::string text = right;
      text[at] = static_cast<char>(character);
      const bool good = right[at] == '-' ? character == '-' : std::isxdigit(character) != 0;
      ASSERT_EQ(Uuid::parse(text).has_value(), good) << at << ' ' << character;
    }
    EXPECT_FALSE(Uuid::parse(right.substr(0, at))) << at;
  }
}

TEST(Uuid, IsWrittenAsItsText) {
  const Uuid uuid(0x0011223344556677, 0x8899aabbccddeeff);
  std::ostringstream out;
  out << std::hex << uuid << std::setw(38) << uuid << 10;
  EXPECT_EQ(out.str(), "00112233-4455-6677-8899-aabbccddeeff  00112233-4455-6677-8899-aabbccddeeffa");
#ifdef __cpp_lib_format
  EXPECT_EQ(std::format("{}", uuid), to_string(uuid));
#endif
}

TEST(Uuid, IsNotWrittenWhereItHasNoRoom) {
  std::string room(Uuid::text_length + 2, '#');
  char* const first = room.data() + 1;
  char* const last = first + Uuid::text_length;
  EXPECT_EQ(to_chars(first, last - 1, Uuid::max()).ec, std::errc::value_too_large);
  EXPECT_EQ(room, std::string(Uuid::text_length + 2, '#'));
  const auto [end, error] = to_chars(first, last, Uuid::max());
  EXPECT_EQ(error, std::errc());
  EXPECT_EQ(end, last);
  EXPECT_EQ(room, "#" + to_string(Uuid::max()) + "#");
}

TEST(Uuid, CanBeAKey) {
  const std::unordered_set<Uuid> keys = {Uuid(1, 2), Uuid(2, 1), Uuid(1, 2)};
  EXPECT_EQ(keys.size(), 2U);
  EXPECT_TRUE(keys.contains(Uuid(2, 1)));
}

TEST(Uuid, HasHashesThatAreSpread) {
  // What a generator makes one after the other differs little: the lowest bits of the hashes must differ nevertheless.
  constexpr std::size_t count = 1 << 16;
  for (const int differing : {0, 10, 32, 53, 63}) {
    std::unordered_set<std::size_t> places;
    for (std::uint64_t i = 0; i < count; ++i) {
      places.insert(std::hash<Uuid>()(Uuid(0x017f22e279b07cc3, std::rotl(i, differing))) % count);
    }
    EXPECT_GT(places.size(), count / 4) << differing;
  }
}

}  // namespace
}  // namespace holdfast::ids
