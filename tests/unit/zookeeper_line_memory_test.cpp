#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/zookeeper/line_memory.hpp"

namespace holdfast::zookeeper {
namespace {

using Names = std::vector<std::string>;

const std::string path = "/holdfast/name";

/// A line on a server: counts as the servers do.
class ServersLine {
 public:
  explicit ServersLine(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) add();
  }

  std::string add() {
    std::string text(32, '\0');
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "lock-%010d", next_++)));
    children_.push_back(text);
    ++changes_;
    return path + "/" + text;
  }
  std::string remove(std::size_t place) {
    const std::string gone = children_[place];
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(place));
    ++changes_;
    return path + "/" + gone;
  }
  void make_again() {
    ++created_;
    changes_ = static_cast<std::int32_t>(children_.size());
  }

  const Names& children() const { return children_; }
  NodeStat stat() const { return {.created = created_, .changes = changes_}; }

 private:
  Names children_;
  int next_ = 0;
  std::uint64_t created_ = 1;
  std::int32_t changes_ = 0;
};

Names names_of(const Entries& entries) {
  Names names;
  for (const Entry& entry : entries) names.push_back(entry.node);
  return names;
}

TEST(ZookeeperLineMemory, KnowsALineThatOnlyItsOwnSessionHasChanged) {
  ServersLine line(100);
  LineMemory memory;
  memory.read(path, line.stat(), line.children());
  memory.added(line.add());
  memory.removed(line.remove(50));
  const auto recalled = memory.recall(path, line.stat());
  ASSERT_TRUE(recalled);
  EXPECT_EQ(names_of(*recalled), line.children());
}

TEST(ZookeeperLineMemory, DoesNotTakeAChangedLineForTheOneItKnows) {
  ServersLine line(100);
  LineMemory memory;
  memory.read(path, line.stat(), line.children());
  line.add();
  EXPECT_FALSE(memory.recall(path, line.stat())) << "somebody came";
  memory.read(path, line.stat(), line.children());
  line.add();
  line.remove(100);
  EXPECT_FALSE(memory.recall(path, line.stat())) << "as many as before";
  memory.read(path, line.stat(), line.children());
  ASSERT_TRUE(memory.recall(path, line.stat()));
  line.make_again();
  EXPECT_FALSE(memory.recall(path, line.stat())) << "the line was removed and made again";
}

TEST(ZookeeperLineMemory, ForgetsNothingThatSomebodyStillLooksAt) {
  ServersLine line(100);
  LineMemory memory;
  const auto before = memory.read(path, line.stat(), line.children());
  const Names as_it_was = line.children();
  memory.added(line.add());
  memory.removed(line.remove(0));
  EXPECT_EQ(names_of(*before), as_it_was);
}

TEST(ZookeeperLineMemory, DoesNotBotherWithShortLines) {
  ServersLine line(LineMemory::worth_remembering - 1);
  LineMemory memory;
  EXPECT_EQ(names_of(*memory.read(path, line.stat(), line.children())), line.children());
  EXPECT_FALSE(memory.has(path));
  const std::string added = line.add();
  memory.added(added);
  memory.read(path, line.stat(), line.children());
  EXPECT_TRUE(memory.has(path));
  memory.removed(added);
  line.remove(0);
  memory.read(path, line.stat(), line.children());
  EXPECT_FALSE(memory.has(path)) << "it has become short";
}

TEST(ZookeeperLineMemory, AMarkBesideAClaimMakesItReadAgain) {
  ServersLine line(100);
  LineMemory memory;
  memory.read(path, line.stat(), line.children());
  memory.added(path + "/" + mark_of_shared({1, 2}, 3));
  line.add();
  EXPECT_FALSE(memory.recall(path, line.stat()));
}

TEST(ZookeeperLineMemory, CountsAsTheServersDoBeyondTheLastNumber) {
  ServersLine line(100);
  LineMemory memory;
  memory.read(path, {.created = 1, .changes = std::numeric_limits<std::int32_t>::max()}, line.children());
  memory.added(line.add());
  EXPECT_TRUE(memory.recall(path, {.created = 1, .changes = std::numeric_limits<std::int32_t>::min()}));
  memory.removed(line.remove(0));
  EXPECT_TRUE(memory.recall(path, {.created = 1, .changes = std::numeric_limits<std::int32_t>::min() + 1}));
}

TEST(ZookeeperLineMemory, RemembersFewLines) {
  const ServersLine line(100);
  LineMemory memory;
  std::size_t remembered = 0;
  for (int i = 0; i < 100; ++i) memory.read(path + std::to_string(i), line.stat(), line.children());
  for (int i = 0; i < 100; ++i) remembered += memory.has(path + std::to_string(i)) ? 1U : 0U;
  EXPECT_GT(remembered, 0U);
  EXPECT_LE(remembered, 16U);
}

/// Whatever happens: what it recalls is what is there.
TEST(ZookeeperLineMemory, IsNeverWrong) {
  std::minstd_rand random(7);
  ServersLine line(100);
  LineMemory memory;
  int recalls = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool ours = random() % 4 != 0;
    if (line.children().size() < 80 || random() % 2 == 0) {
      const std::string added = line.add();
      if (ours) memory.added(added);
    } else {
      const std::string removed = line.remove(random() % line.children().size());
      if (ours) memory.removed(removed);
    }
    if (random() % 3 != 0) continue;
    if (const auto recalled = memory.recall(path, line.stat())) {
      ++recalls;
      ASSERT_EQ(names_of(*recalled), line.children());
    } else {
      memory.read(path, line.stat(), line.children());
    }
  }
  EXPECT_GT(recalls, 1000);
}

}  // namespace
}  // namespace holdfast::zookeeper
