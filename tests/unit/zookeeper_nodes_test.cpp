#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backends/zookeeper/nodes.hpp"

namespace holdfast::zookeeper {
namespace {

using Kind = kit::LinePosition::Kind;
using Names = std::vector<std::string>;

constexpr const char* guid_1 = "00000000-0000-0001-0000-000000000002";
constexpr const char* guid_2 = "00000000-0000-0003-0000-000000000004";
constexpr spi::ClaimId id_1 = {1, 2};

std::string node(const std::string& guid, const std::string& rest) { return "_c_" + guid + rest; }

Names names_of(const Line& line) {
  Names names;
  for (const Entry& entry : line.entries()) names.push_back(entry.node);
  return names;
}

TEST(ZookeeperNodes, EveryNameIsOnePartOfAPathAndComesBack) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& name : {std::string("plain-1.2_3"), std::string("a/b"), std::string("."), std::string(".."),
                                  std::string("%41"), std::string("zookeeper"), all}) {
    const std::string encoded = Nodes::encode(name);
    EXPECT_EQ(encoded.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-%"),
              std::string::npos);
    EXPECT_NE(encoded, ".");
    EXPECT_NE(encoded, "..");
    EXPECT_EQ(Nodes::decode(encoded), name);
  }
  EXPECT_EQ(Nodes::encode("plain-1.2_3"), "plain-1.2_3");
}

TEST(ZookeeperNodes, OurFoldersAreNobodysName) {
  for (const char* const folder : {"%semaphores", "%registers", "%sessions", "", "a%2", "a%2g", "%"}) {
    EXPECT_FALSE(Nodes::decode(folder)) << folder;
  }
  const Nodes nodes("/locks");
  EXPECT_EQ(nodes.line_of("a/b", false), "/locks/a%2Fb");
  EXPECT_EQ(nodes.line_of("a", true), "/locks/%semaphores/a");
  EXPECT_EQ(nodes.register_of("a"), "/locks/%registers/a");
}

TEST(ZookeeperNodes, AGuidSaysWhoseItIs) {
  for (const spi::ClaimId id :
       {id_1, spi::ClaimId{}, spi::ClaimId{~0ULL, ~0ULL}, spi::ClaimId{0x123456789abcdef0, 7}}) {
    EXPECT_EQ(id_of(guid_of(id)), id);
  }
  for (const char* const other :
       {"", "-", "1", "00000000-0000-0001-0000-00000000000", "00000000-0000-0001-0000-00000000000x",
        "0000000000000001-0000-000000000000002", "00000000-0000-0001-0000-00000000000A",
        "+0000000-0000-0001-0000-000000000002", "00000000-0000-0001-0000-0000000000021"}) {
    EXPECT_FALSE(id_of(other)) << other;
  }
}

TEST(ZookeeperNodes, AClaimsNodeSaysEverythingOfTheClaim) {
  EXPECT_EQ(guid_of(id_1), guid_1);
  const auto made = [](spi::Mode mode) { return Entry::from(new_node_of(id_1, mode) + "0000000007").value(); };
  for (const spi::Mode mode : {spi::Mode{}, spi::Mode{ClaimMode::shared}, spi::Mode{ClaimMode::permits, 2, 5}}) {
    const Entry entry = made(mode);
    EXPECT_EQ(entry.guid(), guid_1);
    EXPECT_EQ(entry.sequence, 7);
    EXPECT_EQ(entry.mode, mode);
    EXPECT_FALSE(entry.is_mark());
  }
  EXPECT_TRUE(Entry::from(mark_of_shared(id_1, 7)).value().is_mark());
  EXPECT_EQ(made({}).mark(), mark_of_shared(id_1, 7));
}

TEST(ZookeeperNodes, TheNodeAfterAnotherHasTheNextNumber) {
  const std::string made = new_node_of(id_1, {});
  EXPECT_EQ(node_after(0, made), node(guid_1, "-lock-0000000001"));
  EXPECT_EQ(node_after(99, made), node(guid_1, "-lock-0000000100"));
  EXPECT_EQ(node_after(2147483645, made), node(guid_1, "-lock-2147483646"));
  EXPECT_FALSE(node_after(2147483646, made)) << "the last number may be given more than once";
  EXPECT_FALSE(node_after(2147483647, made));
  EXPECT_FALSE(node_after(2147483648, made)) << "what is left of a negative number";
  EXPECT_FALSE(node_after(-5, made));
}

TEST(ZookeeperNodes, OtherPeoplesNodesAreExclusiveClaimsIfTheyHaveANumber) {
  const Entry kazoo = Entry::from("8ad53ab09d3d4a1c9d2b__lock__0000000012").value();
  EXPECT_EQ(kazoo.guid(), "");
  EXPECT_EQ(kazoo.sequence, 12);
  EXPECT_EQ(kazoo.mode, spi::Mode{});
  EXPECT_FALSE(Entry::from("leases"));
  EXPECT_FALSE(Entry::from("short"));
  EXPECT_FALSE(Entry::from("lock-000000000x"));
  EXPECT_EQ(Entry::from(node(guid_1, "-x-of-5-lock-0000000001"))->mode, spi::Mode{}) << "not a number of permits";
}

TEST(ZookeeperLine, IsInTheOrderOfItsNumbersWhoeverMadeThem) {
  const Names children = {node(guid_1, "-lock-0000000003"), "other-0000000001", node(guid_2, "-read-lock-0000000002")};
  const Line line = Line::from(children, std::nullopt);
  EXPECT_EQ(names_of(line), (Names{children[1], children[2], children[0]}));
  ASSERT_NE(line.find(guid_1), nullptr);
  EXPECT_EQ(line.place_of(*line.find(guid_1)), 2U);
  EXPECT_EQ(line.find("nobody"), nullptr);
  EXPECT_TRUE(line.is_granted(0));
  EXPECT_FALSE(line.is_granted(1));
}

TEST(ZookeeperLine, AMarkMakesItsClaimSharedAndNoOther) {
  const Line line = Line::from({node(guid_1, "-lock-0000000001"), mark_of_shared(id_1, 1),
                                node(guid_2, "-read-lock-0000000002"), node(guid_1, "-lock-0000000003")},
                               std::nullopt);
  ASSERT_EQ(line.entries().size(), 3U);
  EXPECT_EQ(line.entries()[0].mode.kind, ClaimMode::shared);
  EXPECT_EQ(line.entries()[2].mode.kind, ClaimMode::exclusive) << "another life of the same claim";
  EXPECT_TRUE(line.is_granted(1));
}

TEST(ZookeeperLine, OfThoseAheadTheFirstThatIsInTheWay) {
  const auto reader = [](int number) {
    return "_c_" + std::string(guid_2) + "-read-lock-000000000" + char('0' + number);
  };
  const auto writer = [](int number) { return "other-000000000" + std::string(1, char('0' + number)); };
  const Line line = Line::from({reader(0), reader(1), writer(2), writer(3), reader(4), writer(5)}, std::nullopt);
  EXPECT_EQ(line.position_of(4).ahead, 3U) << "the control: just ahead";
  EXPECT_EQ(line.first_ahead_of(4), 2U);
  EXPECT_EQ(line.first_ahead_of(5), 0U);
  EXPECT_EQ(line.first_ahead_of(2), 0U);
}

TEST(ZookeeperLine, AdmitsWhoWouldHaveItsTurn) {
  const Line empty;
  EXPECT_TRUE(empty.admits({}));
  EXPECT_TRUE(empty.admits({ClaimMode::permits, 5, 5}));
  const Line readers = Line::from({node(guid_1, "-read-lock-0000000001")}, std::nullopt);
  EXPECT_TRUE(readers.admits({ClaimMode::shared}));
  EXPECT_FALSE(readers.admits({}));
  EXPECT_TRUE(readers.without(guid_1).admits({}));
  EXPECT_EQ(readers.entries().size(), 1U) << "the line itself stays";
}

/// Names that a server may send and no client made: pieces of ours, in any order.
class HostileNames {
 public:
  std::string next() {
    static constexpr std::array pieces = {
        "_c_", guid_1,       guid_2,       "-lock-",     "-read-lock-",  "-shared-",   "-2-of-5-lock-",        "-of-",
        "-",   "0000000007", "-000000001", "2147483647", "9999999999",   "4294967296", "99999999999999999999", "/",
        "..",  "+000000001", "\xff",       " ",          "0-of-0-lock-", "x"};
    std::string name;
    for (std::size_t left = random_() % 7; left > 0; --left) name += pieces.at(random_() % pieces.size());
    return name;
  }

 private:
  std::minstd_rand random_{11};
};

TEST(ZookeeperLine, IsALineWhateverAServerCallsItsNodes) {
  HostileNames names;
  std::size_t claims = 0;
  for (int round = 0; round < 20'000; ++round) {
    Names children;
    for (int i = 0; i < 6; ++i) children.push_back(names.next());
    const Line line = Line::from(children, round % 2 == 0 ? std::optional(SemaphoreData{1, 3, -1}) : std::nullopt);
    for (std::size_t place = 0; place < line.entries().size(); ++place) {
      const Entry& entry = line.entries()[place];
      ++claims;
      ASSERT_GE(entry.sequence, 0) << entry.node;
      ASSERT_LE(entry.sequence, 9'999'999'999) << entry.node;
      ASSERT_TRUE(entry.guid().empty() || entry.guid().size() == 36U) << entry.node;
      ASSERT_EQ(sequence_of(entry.node), entry.sequence);
      const auto after = node_after(entry.sequence, "node-");
      ASSERT_EQ(after.has_value(), entry.sequence < 2147483646) << entry.node;
      const kit::LinePosition position = line.position_of(place);
      if (position.kind == Kind::behind_one) {
        ASSERT_LT(position.ahead, place);
        ASSERT_LT(line.first_ahead_of(place), place);
      }
    }
    static_cast<void>(line.admits({ClaimMode::permits, 1, 1}));
  }
  EXPECT_GT(claims, 10'000U);
}

TEST(ZookeeperNodes, ANumberIsTenDigitsAndNothingElse) {
  for (const char* const name : {"", "7", "000000007", "x-000000007", "lock-+000000007", "lock-00000000 7",
                                 "lock-0x00000007", "lock-000000007x"}) {
    EXPECT_LT(sequence_of(name), 0) << name;
    EXPECT_FALSE(Entry::from(name)) << name;
  }
  EXPECT_EQ(sequence_of("9999999999"), 9'999'999'999) << "no server gives it, and it is no smaller for that";
}

TEST(ZookeeperLine, PermitsCountUpToTheTotalOfTheOldest) {
  const Line line = Line::from({node(guid_1, "-2-of-3-lock-0000000001"), node(guid_2, "-2-of-3-lock-0000000002")}, {});
  EXPECT_EQ(line.total(), 3U);
  EXPECT_TRUE(line.is_granted(0));
  EXPECT_EQ(line.position_of(1).kind, Kind::behind_all);
  EXPECT_EQ(Line().total(), 0U);
}

TEST(ZookeeperLine, AResizeCountsUntilAllWhoCameBeforeHaveGone) {
  const SemaphoreData data = {.total = 1, .before = 3, .kept = 1};
  const std::string kept = node(guid_1, "-1-of-3-lock-0000000001");
  const std::string waits = node(guid_2, "-1-of-3-lock-0000000002");
  const std::string later = "_c_00000000-0000-0005-0000-000000000006-2-of-3-lock-0000000003";
  const Line line = Line::from({kept, waits, later}, data);
  EXPECT_EQ(line.total(), 1U);
  EXPECT_TRUE(line.is_granted(0)) << "it had its permit before";
  EXPECT_FALSE(line.is_granted(1));
  EXPECT_EQ(Line::from({later}, data).total(), 3U) << "nobody is left whom it concerned";
}

TEST(ZookeeperLine, WhatAResizeHasSaidComesBack) {
  const SemaphoreData data = {.total = 7, .before = 12, .kept = -1};
  const auto read = SemaphoreData::from(data.text());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->total, 7U);
  EXPECT_EQ(read->before, 12);
  EXPECT_EQ(read->kept, -1);
  for (const char* const text : {"", "1", "1 2", "1 2 x", "1  3", "a 2 3", "1 2 3 "}) {
    EXPECT_FALSE(SemaphoreData::from(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast::zookeeper
