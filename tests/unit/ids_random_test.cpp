#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ids/aes.hpp"
#include "ids/chacha.hpp"
#include "ids/random_source.hpp"
#include "ids_collected.hpp"

namespace holdfast::ids {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    for (const int digit : {std::to_integer<int>(byte) >> 4, std::to_integer<int>(byte) & 15}) {
      text += "0123456789abcdef"[digit];
    }
  }
  return text;
}

template <std::size_t size>
std::array<std::byte, size> rising(int first, int step) {
  std::array<std::byte, size> bytes{};
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(first + step * static_cast<int>(i));
  return bytes;
}

TEST(Aes, IsThatOfFips197) {
  if (!has_aes()) GTEST_SKIP() << "this processor has no instructions for AES";
  const auto key = rising<16>(0, 1);
  std::array<std::byte, 256> out{};
  aes128_ctr(key, rising<16>(0, 0x11), out);
  EXPECT_EQ(hex(std::span(out).first(16)), "69c4e0d86a7b0430d8cdb78070b4c55a");  // FIPS 197, appendix C.1

  // Every further block is what its counter alone gives.
  auto counter = rising<16>(0, 0x11);
  for (std::size_t block = 0; block < 16; ++block) {
    counter[0] = static_cast<std::byte>(block);
    std::array<std::byte, 128> alone{};
    aes128_ctr(key, counter, alone);
    EXPECT_EQ(hex(std::span(out).subspan(16 * block, 16)), hex(std::span(alone).first(16))) << block;
  }
}

TEST(ChaCha, IsThatOfRfc8439) {
  std::array<std::byte, 512> out{};
  chacha<20>(rising<32>(0, 1), 1, {0x09000000, 0x4a000000, 0}, out);
  EXPECT_EQ(hex(std::span(out).first(64)),  // section 2.3.2
            "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
            "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
  for (std::uint32_t block = 0; block < 8; ++block) {
    std::array<std::byte, 256> alone{};
    chacha<20>(rising<32>(0, 1), 1 + block, {0x09000000, 0x4a000000, 0}, alone);
    EXPECT_EQ(hex(std::span(out).subspan(std::size_t{64} * block, 64)), hex(std::span(alone).first(64))) << block;
  }
}

TEST(ChaCha, HasTwelveRoundsWhereItIsUsed) {
  std::array<std::byte, 256> out{};
  chacha<12>(std::array<std::byte, 32>{}, 0, {}, out);
  EXPECT_EQ(hex(std::span(out).first(32)), "9bf49a6a0755f953811fce125f2683d50429c3bb49e074147e0089a52eae155f");
}

/// Runs each case with either cipher that this processor has.
class Source : public testing::TestWithParam<Cipher> {
 protected:
  void SetUp() override {
    if (GetParam() == Cipher::aes && !has_aes()) GTEST_SKIP() << "this processor has no instructions for AES";
    use_cipher(GetParam());
  }
  void TearDown() override { use_cipher(before_); }

 private:
  const Cipher before_ = current_cipher();
};

INSTANTIATE_TEST_SUITE_P(, Source, testing::Values(Cipher::aes, Cipher::chacha),
                         [](const auto& tested) { return tested.param == Cipher::aes ? "aes" : "chacha"; });

TEST_P(Source, NeverRepeatsANumber) {
  // Across refills, new seeds and two sources: 400,000 numbers of 64 bits coincide once in 200 million runs.
  SecureSource one;
  SecureSource other;
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 200'000; ++i) numbers.insert(numbers.end(), {one.next(), other.next()});
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
}

TEST_P(Source, HasAsManyOnesAsZerosInEveryBit) {
  SecureSource source;
  constexpr int count = 100'000;
  std::array<int, 64> ones{};
  for (int i = 0; i < count; ++i) {
    const std::uint64_t number = source.next();
    for (std::size_t bit = 0; bit < ones.size(); ++bit) ones[bit] += static_cast<int>(number >> bit & 1);
  }
  // 8 standard deviations of 158.
  for (std::size_t bit = 0; bit < ones.size(); ++bit) EXPECT_NEAR(ones[bit], count / 2, 1'265) << bit;
}

TEST_P(Source, BeginsAnewWhenItIsWiped) {
  // What the kernel does to it in a forked child, done in this process: what was in stock must not come back.
  SecureSource source;
  std::set<std::uint64_t> seen;
  for (int wipes = 0; wipes < 100; ++wipes) {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(source.next()).second);
    SecureSource copy = source;
    EXPECT_EQ(copy.next(), source.next()) << "a copy that was not wiped goes on as the source does";
    std::memset(static_cast<void*>(&source), 0, sizeof(source));
  }
}

// The negative control of the fork tests: the very source of the generators, but in memory that a forked child copies.
TEST_P(Source, RepeatsAfterAForkIfItsMemoryIsNotWiped) {
  thread_local SecureSource not_wiped;
  not_wiped.next();
  const std::size_t repeats = test::repeats_after_forks([] {
    const std::uint64_t high = not_wiped.next();
    return Uuid(high, not_wiped.next());
  });
  EXPECT_GT(repeats, 1'000U) << "the checker does not find ids that repeat";
}

TEST(FastSource, RepeatsAfterAForkIfItsMemoryIsNotWiped) {
  thread_local FastSource not_wiped;
  not_wiped.next();
  const std::size_t repeats = test::repeats_after_forks([] {
    const std::uint64_t high = not_wiped.next();
    return Uuid(high, not_wiped.next());
  });
  EXPECT_EQ(repeats, 4U * 5'000U) << "the checker does not find all ids that repeat";
}

TEST(RepeatsIn, FindsWhatIsPlanted) {
  std::vector<Uuid> ids;
  for (std::uint64_t i = 0; i < 10'000; ++i) ids.emplace_back(i * i, ~i);
  EXPECT_EQ(test::repeats_in(ids), 0U);
  ids.push_back(ids[0]);
  ids.insert(ids.begin() + 77, ids[9'000]);
  ids.push_back(ids[77]);
  EXPECT_EQ(test::repeats_in(ids), 3U);
  EXPECT_EQ(test::repeats_in({}), 0U);
}

}  // namespace
}  // namespace holdfast::ids
