// The model of the disk itself, on journals made by hand.
#include "crash/power_loss.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "crash/scratch.hpp"

namespace holdfast::crash {
namespace {

using Kind = DiskEvent::Kind;

/// A file "f" with durable contents "old", opened as 1 and as 2, and then `events`.
std::vector<DiskEvent> after_old(std::vector<DiskEvent> events) {
  std::vector<DiskEvent> all = {{Kind::created, "f"},        {Kind::opened, "f", 1}, {Kind::written, "f", 1, 0, "old"},
                                {Kind::sync_begins, "f", 1}, {Kind::synced, "f", 1}, {Kind::directory_synced, "f"},
                                {Kind::opened, "f", 2}};
  all.insert(all.end(), events.begin(), events.end());
  return all;
}

/// What file `name` holds after the loss; empty if it is not there.
std::optional<std::string> left_of(const std::vector<DiskEvent>& events, Loss loss, std::uint32_t seed = 1,
                                   const std::string& name = "f", Disk disk = Disk::honest) {
  const Scratch scratch;
  PowerLoss power_loss(events, disk);
  power_loss.advance_to(events.size());
  power_loss.write_image(scratch.path(), loss, seed);
  std::ifstream in(scratch.path() / name, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// All that can be left, by seed.
std::set<std::optional<std::string>> all_left_of(const std::vector<DiskEvent>& events, Loss loss) {
  std::set<std::optional<std::string>> found;
  for (std::uint32_t seed = 0; seed < 64; ++seed) found.insert(left_of(events, loss, seed));
  return found;
}

TEST(PowerLoss, LosesWhatWasNotSynced) {
  const auto events = after_old({{Kind::written, "f", 1, 0, "new"}, {Kind::truncated, "f", 1, 2}});
  EXPECT_EQ(left_of(events, Loss::everything), "old");
  EXPECT_EQ(left_of(events, Loss::nothing), "ne");
}

TEST(PowerLoss, KeepsWhatWasSynced) {
  const auto events =
      after_old({{Kind::written, "f", 1, 0, "new"}, {Kind::sync_begins, "f", 2}, {Kind::synced, "f", 2}});
  for (const Loss loss : every_loss) EXPECT_EQ(left_of(events, loss), "new");
}

TEST(PowerLoss, ASyncCoversNothingThatWasWrittenSinceItBegan) {
  const auto events = after_old({{Kind::written, "f", 1, 0, "new"},
                                 {Kind::sync_begins, "f", 2},
                                 {Kind::written, "f", 1, 3, "er"},
                                 {Kind::synced, "f", 2}});
  EXPECT_EQ(left_of(events, Loss::everything), "new");
}

TEST(PowerLoss, ASyncOfAFileThatSqliteDidNotMakeCounts) {
  const auto events = after_old({{Kind::written, "f", 1, 0, "new"}, {Kind::sync_begins, "f"}, {Kind::synced, "f"}});
  EXPECT_EQ(left_of(events, Loss::everything), "new");
}

TEST(PowerLoss, ASyncThatHasNotEndedPromisesNothing) {
  const auto events = after_old({{Kind::written, "f", 1, 0, "new"}, {Kind::sync_begins, "f", 1}});
  EXPECT_EQ(left_of(events, Loss::everything), "old");
}

TEST(PowerLoss, AnySubsetOfTheWritesMayBeLeft) {
  const auto events = after_old({{Kind::written, "f", 1, 0, "N"}, {Kind::written, "f", 1, 1, "E"}});
  const std::set<std::optional<std::string>> all = {"old", "Nld", "oEd", "NEd"};
  EXPECT_EQ(all_left_of(events, Loss::some), all);
}

TEST(PowerLoss, WritesAreTornAtSectors) {
  const auto events = after_old({{Kind::written, "f", 1, 510, "abcd"}});
  const std::string hole = "old" + std::string(507, '\0');
  const std::set<std::optional<std::string>> all = {"old", hole + "ab", hole + std::string(2, '\0') + "cd",
                                                    hole + "abcd"};
  EXPECT_EQ(all_left_of(events, Loss::torn), all);
}

TEST(PowerLoss, WritesMayEndAtAnyMoment) {
  const auto events = after_old({{Kind::written, "f", 1, 0, "N"}, {Kind::written, "f", 1, 1, "E"}});
  const std::set<std::optional<std::string>> all = {"old", "Nld", "NEd"};
  EXPECT_EQ(all_left_of(events, Loss::late), all);
}

TEST(PowerLoss, ANewFileVanishesUntilItsDirectoryIsSynced) {
  std::vector<DiskEvent> events = {{Kind::created, "f"},
                                   {Kind::opened, "f", 1},
                                   {Kind::written, "f", 1, 0, "new"},
                                   {Kind::sync_begins, "f", 1},
                                   {Kind::synced, "f", 1}};
  const std::set<std::optional<std::string>> both = {std::nullopt, "new"};
  EXPECT_EQ(left_of(events, Loss::everything), std::nullopt);
  EXPECT_EQ(left_of(events, Loss::nothing), "new");
  EXPECT_EQ(all_left_of(events, Loss::some), both);
  events.push_back({Kind::directory_synced, "f"});
  EXPECT_EQ(left_of(events, Loss::everything), "new");
}

TEST(PowerLoss, ARemovedFileComesBackUntilItsDirectoryIsSynced) {
  auto events = after_old({{Kind::removed, "f"}});
  const std::set<std::optional<std::string>> both = {std::nullopt, "old"};
  EXPECT_EQ(left_of(events, Loss::everything), "old");
  EXPECT_EQ(left_of(events, Loss::nothing), std::nullopt);
  EXPECT_EQ(all_left_of(events, Loss::some), both);
  events.push_back({Kind::directory_synced, "f"});
  EXPECT_EQ(left_of(events, Loss::everything), std::nullopt);
}

TEST(PowerLoss, ARemovedFileComesBackInPlaceOfItsSuccessor) {
  auto events = after_old({{Kind::removed, "f"},
                           {Kind::created, "f"},
                           {Kind::opened, "f", 3},
                           {Kind::written, "f", 3, 0, "next"},
                           {Kind::sync_begins, "f", 3},
                           {Kind::synced, "f", 3}});
  const std::set<std::optional<std::string>> both = {"old", "next"};
  EXPECT_EQ(left_of(events, Loss::everything), "old");
  EXPECT_EQ(all_left_of(events, Loss::some), both);
  events.push_back({Kind::directory_synced, "f"});
  EXPECT_EQ(left_of(events, Loss::everything), "next");
}

TEST(PowerLoss, ADiskThatForgetsCommitsStillKeepsCheckpoints) {
  std::vector<DiskEvent> events = {{Kind::created, "f-wal"},
                                   {Kind::opened, "f-wal", 1},
                                   {Kind::directory_synced, "f-wal"},
                                   {Kind::written, "f-wal", 1, 0, "h"},
                                   {Kind::sync_begins, "f-wal", 1},
                                   {Kind::synced, "f-wal", 1},
                                   {Kind::written, "f-wal", 1, 1, "frame"},
                                   {Kind::sync_begins, "f-wal", 1},
                                   {Kind::synced, "f-wal", 1}};
  EXPECT_EQ(left_of(events, Loss::everything, 1, "f-wal", Disk::forgets_commits), "h");
  EXPECT_EQ(left_of(events, Loss::everything, 1, "f-wal", Disk::forgets_the_wal), "");
  EXPECT_EQ(left_of(events, Loss::everything, 1, "f-wal"), "hframe");
  events.push_back({Kind::sync_begins, "f-wal", 1});
  events.push_back({Kind::synced, "f-wal", 1});
  EXPECT_EQ(left_of(events, Loss::everything, 1, "f-wal", Disk::forgets_commits), "hframe");
}

}  // namespace
}  // namespace holdfast::crash
