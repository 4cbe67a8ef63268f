#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/zookeeper/line_cache.hpp"

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

TEST(ZookeeperLineCache, KnowsALineThatOnlyItsOwnSessionHasChanged) {
  ServersLine line(100);
  LineCache cache;
  cache.read(path, line.stat(), line.children());
  cache.added(line.add());
  cache.removed(line.remove(50));
  const auto recalled = cache.find(path, line.stat());
  ASSERT_TRUE(recalled);
  EXPECT_EQ(names_of(*recalled), line.children());
}

TEST(ZookeeperLineCache, DoesNotTakeAChangedLineForTheOneItKnows) {
  ServersLine line(100);
  LineCache cache;
  cache.read(path, line.stat(), line.children());
  line.add();
  EXPECT_FALSE(cache.find(path, line.stat())) << "somebody came";
  cache.read(path, line.stat(), line.children());
  line.add();
  line.remove(100);
  EXPECT_FALSE(cache.find(path, line.stat())) << "as many as before";
  cache.read(path, line.stat(), line.children());
  ASSERT_TRUE(cache.find(path, line.stat()));
  line.make_again();
  EXPECT_FALSE(cache.find(path, line.stat())) << "the line was removed and made again";
}

TEST(ZookeeperLineCache, ForgetsNothingThatSomebodyStillLooksAt) {
  ServersLine line(100);
  LineCache cache;
  const auto before = cache.read(path, line.stat(), line.children());
  const Names as_it_was = line.children();
  cache.added(line.add());
  cache.removed(line.remove(0));
  EXPECT_EQ(names_of(*before), as_it_was);
}

TEST(ZookeeperLineCache, DoesNotBotherWithShortLines) {
  ServersLine line(LineCache::worth_caching - 1);
  LineCache cache;
  EXPECT_EQ(names_of(*cache.read(path, line.stat(), line.children())), line.children());
  EXPECT_FALSE(cache.has(path));
  const std::string added = line.add();
  cache.added(added);
  cache.read(path, line.stat(), line.children());
  EXPECT_TRUE(cache.has(path));
  cache.removed(added);
  line.remove(0);
  cache.read(path, line.stat(), line.children());
  EXPECT_FALSE(cache.has(path)) << "it has become short";
}

TEST(ZookeeperLineCache, AMarkBesideAClaimMakesItReadAgain) {
  ServersLine line(100);
  LineCache cache;
  cache.read(path, line.stat(), line.children());
  cache.added(path + "/" + mark_of_shared({1, 2}, 3));
  line.add();
  EXPECT_FALSE(cache.find(path, line.stat()));
}

TEST(ZookeeperLineCache, CountsAsTheServersDoBeyondTheLastNumber) {
  ServersLine line(100);
  LineCache cache;
  cache.read(path, {.created = 1, .changes = std::numeric_limits<std::int32_t>::max()}, line.children());
  cache.added(line.add());
  EXPECT_TRUE(cache.find(path, {.created = 1, .changes = std::numeric_limits<std::int32_t>::min()}));
  cache.removed(line.remove(0));
  EXPECT_TRUE(cache.find(path, {.created = 1, .changes = std::numeric_limits<std::int32_t>::min() + 1}));
}

TEST(ZookeeperLineCache, RemembersFewLines) {
  const ServersLine line(100);
  LineCache cache;
  std::size_t remembered = 0;
  for (int i = 0; i < 100; ++i) cache.read(path + std::to_string(i), line.stat(), line.children());
  for (int i = 0; i < 100; ++i) remembered += cache.has(path + std::to_string(i)) ? 1U : 0U;
  EXPECT_GT(remembered, 0U);
  EXPECT_LE(remembered, 16U);
}

/// Whatever happens: what it recalls is what is there.
TEST(ZookeeperLineCache, IsNeverWrong) {
  std::minstd_rand random(7);
  ServersLine line(100);
  LineCache cache;
  int recalls = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool ours = random() % 4 != 0;
    if (line.children().size() < 80 || random() % 2 == 0) {
      const std::string added = line.add();
      if (ours) cache.added(added);
    } else {
      const std::string removed = line.remove(random() % line.children().size());
      if (ours) cache.removed(removed);
    }
    if (random() % 3 != 0) continue;
    if (const auto recalled = cache.find(path, line.stat())) {
      ++recalls;
      ASSERT_EQ(names_of(*recalled), line.children());
    } else {
      cache.read(path, line.stat(), line.children());
    }
  }
  EXPECT_GT(recalls, 1000);
}

}  // namespace
}  // namespace holdfast::zookeeper
