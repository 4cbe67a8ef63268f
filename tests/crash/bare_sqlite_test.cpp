// SQLite alone on the observed disk: that the model loses what SQLite does not sync, and nothing that it does. One run
// of a workload is cut at every single event, each time with every kind of loss.
#include "crash/bare_sqlite.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "crash/disk_journal.hpp"
#include "crash/observed_vfs.hpp"
#include "crash/power_loss.hpp"
#include "crash/scratch.hpp"

namespace holdfast::crash {
namespace {

struct Setting {
  std::string journal_mode;
  std::string synchronous;
  Disk disk = Disk::honest;
};

constexpr int rows = 24;

/// Inserts rows 1, 2, 3..., each in a transaction of its own, and answers when each of them was committed.
std::vector<std::size_t> insert_rows(const std::filesystem::path& directory, const Setting& setting,
                                     DiskJournal& journal) {
  std::vector<std::size_t> committed_at;
  const ObservedVfs vfs(directory, journal);
  BareSqlite database(directory / "bare.db");
  database.query("PRAGMA synchronous=" + setting.synchronous);
  database.query("PRAGMA journal_mode=" + setting.journal_mode);
  database.query("CREATE TABLE t(id INTEGER PRIMARY KEY, filler)");
  for (int row = 1; row <= rows; ++row) {
    // More than a page now and then, so that a transaction has several writes.
    database.query("INSERT INTO t VALUES (" + std::to_string(row) + ", hex(zeroblob(" + std::to_string(row % 3 * 3000) +
                   ")))");
    committed_at.push_back(journal.position());
    if (row % 8 == 0 && setting.journal_mode == "WAL") database.query("PRAGMA wal_checkpoint(TRUNCATE)");
    if (row % 8 == 4 && setting.journal_mode == "WAL") database.query("PRAGMA wal_checkpoint(PASSIVE)");
  }
  return committed_at;
}

struct Damage {
  int images = 0;
  int corrupt = 0;  ///< not intact, or a row without its predecessors
  int lost = 0;     ///< a committed row is missing
};
std::ostream& operator<<(std::ostream& out, const Damage& damage) {
  return out << damage.images << " images, " << damage.corrupt << " corrupt, " << damage.lost << " with lost rows";
}

/// Looks at one image.
void inspect(const std::filesystem::path& file, long committed, Damage& damage) {
  ++damage.images;
  try {
    BareSqlite database(file, "unix");
    if (database.query("PRAGMA integrity_check") != std::vector<std::string>{"ok"}) {
      ++damage.corrupt;
      return;
    }
    if (database.query("SELECT 1 FROM sqlite_schema WHERE name='t'").empty()) {
      if (committed > 0) ++damage.lost;
      return;
    }
    const long count = std::stol(database.query("SELECT count(*) FROM t").at(0));
    const long last = std::stol(database.query("SELECT ifnull(max(id), 0) FROM t").at(0));
    if (count != last) ++damage.corrupt;
    if (last < committed) ++damage.lost;
  } catch (const std::runtime_error&) {
    ++damage.corrupt;
  }
}

Damage damage_of(const Setting& setting) {
  const Scratch scratch;
  const Scratch image;
  DiskJournal journal;
  const std::vector<std::size_t> committed_at = insert_rows(scratch.path(), setting, journal);

  Damage damage;
  PowerLoss power_loss(journal.events(), setting.disk);
  for (std::size_t cut = 0; cut <= journal.events().size(); ++cut) {
    power_loss.advance_to(cut);
    const long committed = std::upper_bound(committed_at.begin(), committed_at.end(), cut) - committed_at.begin();
    for (const Loss loss : every_loss) {
      power_loss.write_image(image.path(), loss, static_cast<std::uint32_t>(cut));
      inspect(image.path() / "bare.db", committed, damage);
    }
  }
  std::cout << setting.journal_mode << ", " << setting.synchronous << ": " << journal.events().size() << " events, "
            << damage << '\n';
  return damage;
}

TEST(BareSqlite, LosesNothingWhenItSyncsEveryCommit) {
  const Damage damage = damage_of({.journal_mode = "WAL", .synchronous = "FULL"});
  EXPECT_EQ(damage.corrupt, 0);
  EXPECT_EQ(damage.lost, 0);
}

TEST(BareSqlite, LosesRowsButStaysIntactWhenItSyncsCheckpointsOnly) {
  const Damage damage = damage_of({.journal_mode = "WAL", .synchronous = "NORMAL"});
  EXPECT_EQ(damage.corrupt, 0);
  EXPECT_GT(damage.lost, 0);
}

TEST(BareSqlite, IsDamagedWhenItNeverSyncs) {
  const Damage damage = damage_of({.journal_mode = "WAL", .synchronous = "OFF"});
  EXPECT_GT(damage.corrupt, 0);
  EXPECT_GT(damage.lost, 0);
}

TEST(BareSqlite, IsDamagedByADiskThatForgetsEverything) {
  const Damage damage = damage_of({.journal_mode = "WAL", .synchronous = "FULL", .disk = Disk::forgets_everything});
  EXPECT_GT(damage.corrupt, 0);
  EXPECT_GT(damage.lost, 0);
}

TEST(BareSqlite, OnADiskThatForgetsCommitsIsAsIfItSyncedCheckpointsOnly) {
  const Damage damage = damage_of({.journal_mode = "WAL", .synchronous = "FULL", .disk = Disk::forgets_commits});
  EXPECT_EQ(damage.corrupt, 0);
  EXPECT_GT(damage.lost, 0);
}

TEST(BareSqlite, LosesNothingWithARollbackJournal) {
  const Damage damage = damage_of({.journal_mode = "DELETE", .synchronous = "EXTRA"});
  EXPECT_EQ(damage.corrupt, 0);
  EXPECT_EQ(damage.lost, 0);
}

TEST(BareSqlite, IsDamagedWhenTheNameOfItsRollbackJournalIsForgotten) {
  const Damage damage = damage_of({.journal_mode = "DELETE", .synchronous = "EXTRA", .disk = Disk::forgets_names});
  EXPECT_GT(damage.corrupt + damage.lost, 0);
}

}  // namespace
}  // namespace holdfast::crash
