#include <gmock/gmock.h>

#include <sstream>

#include "cli/demo/timeline.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr HostId a = HostId::a;
constexpr HostId b = HostId::b;
constexpr std::uint64_t largest = ~std::uint64_t{0};

Event event(std::chrono::milliseconds at, HostId host, Kind kind, std::uint64_t token = 0) {
  return {.host = host, .kind = kind, .at = std::chrono::nanoseconds(at).count(), .token = token};
}

Timeline::Instant instant(std::chrono::milliseconds at) { return Timeline::Instant(at); }

Timeline timeline(Look look) { return Timeline(look, instant(0ms)); }

TEST(DemoTimeline, IsOneLinePerEventWithoutLanes) {
  Timeline plain = timeline({});
  EXPECT_EQ(plain.act(1, "title", "why"), "\nAct 1: title\nwhy\n");
  EXPECT_EQ(plain.event(event(1250ms, a, Kind::acquired, 256)), "  1.2s  host-a  gets the lock, token 256\n");
  EXPECT_EQ(plain.event(event(12'340ms, b, Kind::waits)), " 12.3s  host-b  somebody holds the lock: waits\n");
  EXPECT_EQ(plain.tick(instant(13s)), "");
  EXPECT_EQ(plain.legend(), "");
}

TEST(DemoTimeline, CountsFromItsBeginning) {
  Timeline late({}, instant(10s));
  EXPECT_THAT(late.event(event(12s, a, Kind::begins)), StartsWith("  2.0s  "));
}

TEST(DemoTimeline, ShowsInTheLanesWhoHolds) {
  Timeline lanes = timeline({.lanes = true});
  const auto bars = [&] { return lanes.tick(instant(0ms)); };
  EXPECT_THAT(lanes.act(1, "title", "why"), HasSubstr("\n          host-a                              host-b\n"));
  EXPECT_EQ(bars(), "  0.0s\n");
  lanes.event(event(0ms, a, Kind::begins));
  EXPECT_EQ(bars(), "  0.0s  |\n");
  lanes.event(event(0ms, b, Kind::begins));
  EXPECT_EQ(bars(), "  0.0s  |                                   |\n");
  lanes.event(event(0ms, a, Kind::acquired, 1));
  EXPECT_EQ(bars(), "  0.0s  #                                   |\n");
  EXPECT_EQ(lanes.event(event(0ms, b, Kind::waits)),
            "  0.0s  #                                   | somebody holds the lock: waits\n");
  lanes.event(event(0ms, a, Kind::stopped));
  EXPECT_EQ(bars(), "  0.0s  :                                   |\n");
  lanes.event(event(0ms, b, Kind::acquired, 2));
  EXPECT_EQ(bars(), "  0.0s  |                                   #\n");
  lanes.event(event(0ms, b, Kind::killed));
  EXPECT_EQ(bars(), "  0.0s  |                                   :\n");
  EXPECT_EQ(lanes.event(event(0ms, b, Kind::left)), "") << "need not be told";
  EXPECT_EQ(bars(), "  0.0s  |                                   :\n") << "the lease of the dead goes on";
  lanes.event(event(0ms, a, Kind::acquired, 3));
  lanes.event(event(0ms, a, Kind::released));
  EXPECT_EQ(bars(), "  0.0s  |\n");
  lanes.act(2, "title", "why");
  EXPECT_EQ(bars(), "  0.0s\n") << "a new act begins without hosts";
}

TEST(DemoTimeline, BreaksLongTextsInsideTheirLane) {
  Timeline lanes = timeline({.lanes = true});
  lanes.event(event(0ms, b, Kind::begins));
  EXPECT_EQ(lanes.event(event(0ms, a, Kind::acquired, largest)),
            "  0.0s  # gets the lock, token              |\n"
            "        # 18446744073709551615              |\n");
}

TEST(DemoTimeline, IsNeverWiderThanATerminal) {
  Timeline lanes = timeline({.lanes = true, .utf8 = true});
  std::string all = lanes.legend() + lanes.act(1, "title", std::string(60, 'x') + " " + std::string(60, 'y')) +
                    lanes.result(Mood::good, "many words of a result " + std::string(60, 'z'));
  for (const HostId host : all_hosts) {
    for (int kind = 0; kind <= static_cast<int>(Kind::left); ++kind) {
      all += lanes.event(event(1000s, host, static_cast<Kind>(kind), largest));
    }
  }
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) EXPECT_LT(width(line), 80U) << line;
}

TEST(DemoTimeline, HasNoEscapeCodesUnlessColoursAreWelcome) {
  for (const bool colours : {false, true}) {
    Timeline lanes = timeline({.lanes = true, .colours = colours});
    const std::string text = lanes.act(1, "title", "why") + lanes.event(event(0ms, a, Kind::acquired, 1)) +
                             lanes.result(Mood::bad, "result") + lanes.tick(instant(0ms)) + lanes.legend();
    EXPECT_EQ(text.find('\x1b') != std::string::npos, colours);
  }
  Timeline lanes = timeline({.colours = true});
  EXPECT_EQ(lanes.result(Mood::bad, "result"), "=> \x1b[1;31mresult\x1b[0m\n");
}

TEST(DemoTimeline, HasBarsInUtf8) {
  Timeline lanes = timeline({.lanes = true, .utf8 = true});
  lanes.event(event(0ms, b, Kind::begins));
  EXPECT_EQ(lanes.event(event(0ms, a, Kind::acquired, 1)), "  0.0s  █ gets the lock, token 1            │\n");
  EXPECT_THAT(lanes.event(event(0ms, a, Kind::killed)), HasSubstr("▒ KILLED"));
}

TEST(DemoTimeline, WrapsBetweenWords) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("muchtoolong x", 4), ElementsAre("muchtoolong", "x"));
  EXPECT_THAT(wrapped("", 4), ElementsAre(""));
}

}  // namespace
}  // namespace holdfast::cli::demo
