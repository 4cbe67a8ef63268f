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

constexpr Turn granted = {Turn::Kind::granted, 0};
constexpr Turn behind_all = {Turn::Kind::behind_all, 0};
constexpr Turn behind(std::size_t ahead) { return {Turn::Kind::behind_one, ahead}; }

std::vector<Turn> turns(const Line& line, std::uint32_t total = 0) {
  std::vector<Turn> turns;
  for (std::size_t place = 0; place < line.size(); ++place) turns.push_back(turn_of(line, place, total));
  return turns;
}

using Turns = std::vector<Turn>;

TEST(LineRule, OneWriterAtATimeEachBehindTheOneJustAhead) {
  EXPECT_EQ(turns({writer}), Turns({granted}));
  EXPECT_EQ(turns({writer, writer, writer}), Turns({granted, behind(0), behind(1)}));
}

TEST(LineRule, ReadersEnterTogether) { EXPECT_EQ(turns({reader, reader, reader}), Turns({granted, granted, granted})); }

TEST(LineRule, ReadersWaitForTheNearestWriterAhead) {
  EXPECT_EQ(turns({writer, reader, reader, writer, reader}),
            Turns({granted, behind(0), behind(0), behind(2), behind(3)}));
  EXPECT_EQ(turns({reader, writer, reader}), Turns({granted, behind(0), behind(1)})) << "no reader passes a writer";
}

TEST(LineRule, PermitsAreGivenInOrder) {
  EXPECT_EQ(turns({wants(1), wants(1), wants(1)}, 2), Turns({granted, granted, behind_all}));
  EXPECT_EQ(turns({wants(2), wants(2), wants(1)}, 3), Turns({granted, behind_all, behind_all}))
      << "a small claim does not pass a large one";
}

TEST(LineRule, ALoweredTotalTakesNothingAway) {
  EXPECT_EQ(turns({keeps(2), keeps(2), wants(1)}, 1), Turns({granted, granted, behind_all}));
  EXPECT_EQ(turns({keeps(2), wants(1)}, 2), Turns({granted, behind_all})) << "what is kept counts";
  EXPECT_EQ(turns({keeps(2), wants(1)}, 3), Turns({granted, granted}));
}

TEST(LineRule, SumsOfPermitsDoNotOverflow) {
  constexpr std::uint32_t most = UINT32_MAX;
  EXPECT_EQ(turns({wants(most), wants(most)}, most), Turns({granted, behind_all}));
}

/// The right answer, by the definition: somebody's turn has come when all who came before have theirs and there is
/// room.
bool has_its_turn(const Line& line, std::size_t place) {
  for (std::size_t ahead = 0; ahead < place; ++ahead) {
    const bool together = line[ahead].mode.kind == ClaimMode::shared && line[place].mode.kind == ClaimMode::shared;
    if (!together || !has_its_turn(line, ahead)) return false;
  }
  return true;
}

TEST(LineRule, AgreesWithTheDefinitionAndNobodyWaitsInVain) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    Line line;
    for (std::size_t size = random() % 8 + 1; size > 0; --size) line.push_back(random() % 2 == 0 ? reader : writer);
    for (std::size_t place = 0; place < line.size(); ++place) {
      const Turn turn = turn_of(line, place, 0);
      ASSERT_EQ(turn == granted, has_its_turn(line, place));
      if (turn == granted) continue;
      // Whatever goes except the one it waits for, its turn does not come.
      ASSERT_LT(turn.ahead, place);
      const Line rest = {line[turn.ahead], line[place]};
      ASSERT_FALSE(has_its_turn(rest, 1));
    }
  }
}

}  // namespace
}  // namespace holdfast::kit
