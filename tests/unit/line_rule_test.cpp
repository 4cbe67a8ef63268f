// The rule of the line: exclusive, shared, k of n.

#include "kit/line_rule.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace holdfast::kit {
namespace {

using Line = std::vector<LineEntry>;

constexpr LineEntry writer = {{ClaimMode::exclusive, 1, 1}};
constexpr LineEntry reader = {{ClaimMode::shared, 1, 1}};
constexpr LineEntry wants(std::uint32_t permits) { return {{ClaimMode::permits, permits, 1}}; }
constexpr LineEntry keeps(std::uint32_t permits) { return {{ClaimMode::permits, permits, 1}, true}; }

constexpr LinePosition granted = {LinePosition::Kind::granted, 0};
constexpr LinePosition behind_all = {LinePosition::Kind::behind_all, 0};
constexpr LinePosition behind(std::size_t ahead) { return {LinePosition::Kind::behind_one, ahead}; }

std::vector<LinePosition> positions(const Line& line, std::uint32_t total = 0) {
  std::vector<LinePosition> positions;
  for (std::size_t place = 0; place < line.size(); ++place) positions.push_back(position_of(line, place, total));
  return positions;
}

using Positions = std::vector<LinePosition>;

TEST(LineRule, OneWriterAtATimeEachBehindTheOneJustAhead) {
  EXPECT_EQ(positions({writer}), Positions({granted}));
  EXPECT_EQ(positions({writer, writer, writer}), Positions({granted, behind(0), behind(1)}));
}

TEST(LineRule, ReadersEnterTogether) {
  EXPECT_EQ(positions({reader, reader, reader}), Positions({granted, granted, granted}));
}

TEST(LineRule, ReadersWaitForTheNearestWriterAhead) {
  EXPECT_EQ(positions({writer, reader, reader, writer, reader}),
            Positions({granted, behind(0), behind(0), behind(2), behind(3)}));
  EXPECT_EQ(positions({reader, writer, reader}), Positions({granted, behind(0), behind(1)}))
      << "no reader passes a writer";
}

TEST(LineRule, PermitsAreGivenInOrder) {
  EXPECT_EQ(positions({wants(1), wants(1), wants(1)}, 2), Positions({granted, granted, behind_all}));
  EXPECT_EQ(positions({wants(2), wants(2), wants(1)}, 3), Positions({granted, behind_all, behind_all}))
      << "a small claim does not pass a large one";
}

TEST(LineRule, ALoweredTotalTakesNothingAway) {
  EXPECT_EQ(positions({keeps(2), keeps(2), wants(1)}, 1), Positions({granted, granted, behind_all}));
  EXPECT_EQ(positions({keeps(2), wants(1)}, 2), Positions({granted, behind_all})) << "what is kept counts";
  EXPECT_EQ(positions({keeps(2), wants(1)}, 3), Positions({granted, granted}));
}

TEST(LineRule, SumsOfPermitsDoNotOverflow) {
  constexpr std::uint32_t most = UINT32_MAX;
  EXPECT_EQ(positions({wants(most), wants(most)}, most), Positions({granted, behind_all}));
}

/// The right answer, by the definition: a claim is granted when all who came before are granted and there is
/// room.
bool is_granted(const Line& line, std::size_t place) {
  for (std::size_t ahead = 0; ahead < place; ++ahead) {
    const bool together = line[ahead].mode.kind == ClaimMode::shared && line[place].mode.kind == ClaimMode::shared;
    if (!together || !is_granted(line, ahead)) return false;
  }
  return true;
}

TEST(LineRule, AgreesWithTheDefinitionAndNobodyWaitsInVain) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Line line;
    for (std::size_t size = random() % 8 + 1; size > 0; --size) line.push_back(random() % 2 == 0 ? reader : writer);
    for (std::size_t place = 0; place < line.size(); ++place) {
      const LinePosition position = position_of(line, place, 0);
      ASSERT_EQ(position == granted, is_granted(line, place));
      if (position == granted) continue;
      // Whatever goes except the one it waits for, it is not granted.
      ASSERT_LT(position.ahead, place);
      const Line rest = {line[position.ahead], line[place]};
      ASSERT_FALSE(is_granted(rest, 1));
    }
  }
}

}  // namespace
}  // namespace holdfast::kit
