// Ids of processes that are killed, stopped, and forked.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/fixture.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "support/forked_child.hpp"
#include "support/id_file.hpp"
#include "support/peer.hpp"
#include "support/server_clock.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::conformance {
namespace {

using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;
using test::IdFile;
using test::ProcessPeer;

class Minted {
 public:
  const std::string& path() const { return path_; }
  std::size_t count() const { return IdFile::all(path_).size(); }
  /// Whether processes come to have issued so many.
  bool reach(std::size_t ids) const {
    return eventually([&] { return count() >= ids; });
  }
  std::size_t duplicates() const {
    std::vector<std::uint64_t> ids = IdFile::all(path_);
    std::ranges::sort(ids);
    std::size_t found = 0;
    for (std::size_t i = 1; i < ids.size(); ++i) found += ids[i] == ids[i - 1] ? 1U : 0U;
    return found;
  }

 private:
  test::TemporaryDirectory directory_;
  std::string path_ = (directory_.path() / "ids").string();
};

/// The command that issues ids of a pool with windows of 1 s.
std::string mint(std::uint32_t workers, std::uint64_t count, const Minted& into) {
  return "mint pool " + std::to_string(workers) + " 1000 " + std::to_string(count) + " " + into.path();
}

constexpr std::uint64_t for_ever = 1'000'000'000'000;

// More processes than worker numbers, each killed in the middle and replaced at once.
TEST_P(ProcessSnowflakeConformance, KilledProcessesAndTheirSuccessorsNeverRepeatAnId) {
  constexpr std::uint32_t workers = 3;
  const Minted minted;
  for (std::uint32_t round = 0; round < 2 * workers + 1; ++round) {
    ProcessPeer peer(url());
    const std::size_t before = minted.count();
    peer.send(mint(workers, for_ever, minted));
    ASSERT_TRUE(minted.reach(before + 200)) << "round " << round;
    peer.kill();
  }
  EXPECT_EQ(minted.duplicates(), 0U);
}

// ID14: it may use up its window, and nothing beyond it.
TEST_P(ProcessSnowflakeConformance, AProcessThatWasStoppedForTooLongRepeatsNoId) {
  const Minted minted;
  ProcessPeer stopped(url());
  stopped.send(mint(1, for_ever, minted));
  ASSERT_TRUE(minted.reach(200));
  stopped.pause();
  // The only number there is: as soon as the window has ended, somebody else has it.
  ProcessPeer successor(url());
  EXPECT_EQ(successor.ask(mint(1, 2000, minted)), "minted");
  const std::size_t before = minted.count();
  stopped.resume();
  EXPECT_EQ(successor.ask(mint(1, 2000, minted)), "minted");
  EXPECT_EQ(successor.ask("close pool"), "closed");
  ASSERT_TRUE(minted.reach(before + 2000 + 200)) << "it gets the number again when it is free";
  stopped.kill();
  EXPECT_EQ(minted.duplicates(), 0U);
}

// ID08: its order is kept, so its file is sorted.
TEST_P(ProcessSnowflakeConformance, AProcessWhoseClockIsSetRepeatsNoIdAndKeepsItsOrder) {
  const Minted minted;
  test::ServerClock clock;
  ProcessPeer peer(url(), clock);
  ASSERT_EQ(peer.ask(mint(1, 300, minted)), "minted");
  for (const auto& step : {milliseconds(300), milliseconds(-3'600'300), milliseconds(3'600'000), milliseconds(-700)}) {
    clock.step(step);
    ASSERT_EQ(peer.ask(mint(1, 300, minted)), "minted") << "after " << step.count() << " ms";
  }
  // A successor whose clock is late starts after the last of them.
  peer.kill();
  clock.step(-100ms);
  ProcessPeer successor(url(), clock);
  ASSERT_EQ(successor.ask(mint(1, 300, minted)), "minted");
  const std::vector<std::uint64_t> ids = IdFile::all(minted.path());
  EXPECT_EQ(ids.size(), 1800U);
  EXPECT_EQ(std::ranges::adjacent_find(ids, std::greater_equal<>()), ids.end());
}

TEST_P(ProcessSnowflakeConformance, ForkedChildrenWithGeneratorsOfTheirOwnRepeatNoId) {
  const Minted minted;
  Client client = open();
  ids::Snowflake parents(client, "pool", {.workers = 8, .order = ids::Order::thread});
  const IdFile file(minted.path());
  file.add(parents.next());  // leaves a stock in the memory that is copied
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    report.expect(errc_of([&] { file.add(parents.next()); }) == Errc::forked, "the parent's generator");
    if (errc_of([&] { Client tried(url()); }) == Errc::unsupported) return;  // its library does not survive a fork
    Client own(url(), {.connect_timeout = test::patience});
    ids::Snowflake childs(own, "pool", {.workers = 8, .order = ids::Order::thread});
    for (int i = 0; i < 2000; ++i) file.add(childs.next());
  }));
  for (int i = 0; i < 2000; ++i) file.add(parents.next());
  EXPECT_GE(minted.count(), 2001U);
  EXPECT_EQ(minted.duplicates(), 0U);
}

}  // namespace
}  // namespace holdfast::conformance
