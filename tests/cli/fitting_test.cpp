#include "cli/top/fitting.hpp"

#include <gmock/gmock.h>

namespace holdfast::cli {
namespace {

using testing::ElementsAre;

TEST(Fitting, CutsWithAnEllipsis) {
  EXPECT_EQ(cut("short", 5), "short");
  EXPECT_EQ(cut("longer", 5), "long…");
  EXPECT_EQ(cut("longer", 1), "…");
  EXPECT_EQ(cut("longer", 0), "");
  EXPECT_EQ(cut("", 0), "");
}

TEST(Fitting, NeverCutsACharacterInTwo) {
  EXPECT_EQ(cut("☃☃☃☃", 4), "☃☃☃☃");
  EXPECT_EQ(cut("☃☃☃☃", 3), "☃☃…");
  EXPECT_EQ(cut("aüb☃c", 4), "aüb…");
}

TEST(Fitting, CutsBeforeAWideCharacterThatHasNoRoom) {
  EXPECT_EQ(cut("日本語", 6), "日本語");
  EXPECT_EQ(cut("日本語", 5), "日本…");
  EXPECT_EQ(cut("日本語", 4), "日…");
  EXPECT_EQ(fitted("日本語", 4), "日… ");
  EXPECT_EQ(cut("e\u0301e\u0301e\u0301", 2), "e\u0301…") << "a mark stays with its letter";
}

TEST(Fitting, FillsUpWithBlanks) {
  EXPECT_EQ(fitted("ü", 3), "ü  ");
  EXPECT_EQ(fitted("longer", 3), "lo…");
}

TEST(Fitting, LeavesColumnsAloneThatFit) {
  EXPECT_THAT(fit({{.width = 10, .least = 5}, {.width = 8, .least = 5}}, 2, 20), ElementsAre(10, 8));
}

TEST(Fitting, TakesFromTheWidest) {
  EXPECT_THAT(fit({{.width = 30, .least = 5}, {.width = 8, .least = 5}}, 2, 30), ElementsAre(20, 8));
  EXPECT_THAT(fit({{.width = 30, .least = 5}, {.width = 20, .least = 5}}, 2, 22), ElementsAre(10, 10));
}

TEST(Fitting, TakesFromTheLeastFirmFirst) {
  EXPECT_THAT(fit({{.width = 9, .least = 5}, {.width = 20, .least = 5, .firmness = 1}}, 2, 27), ElementsAre(5, 20));
  EXPECT_THAT(fit({{.width = 9, .least = 5}, {.width = 20, .least = 5, .firmness = 1}}, 2, 20), ElementsAre(5, 13));
}

TEST(Fitting, LeavesOutWhatMattersLeast) {
  EXPECT_THAT(fit({{.width = 9, .least = 8, .rank = 2},
                   {.width = 9, .least = 8, .rank = 1},
                   {.width = 9, .least = 8, .rank = 3}},
                  2, 20),
              ElementsAre(9, 0, 9));
  EXPECT_THAT(fit({{.width = 9, .least = 8, .rank = 2}, {.width = 9, .least = 8, .rank = 1}}, 2, 8), ElementsAre(8, 0));
  EXPECT_THAT(fit({{.width = 9, .least = 8}}, 2, 3), ElementsAre(0));
}

}  // namespace
}  // namespace holdfast::cli
