// The store on a disk whose power fails. One run of a workload is cut right before and right after every sync, and at
// some of the other events, with every kind of loss; after each cut the machine boots again and the store must have
// kept its promises. The same cuts on disks that forget, and a boot that goes unnoticed, are controls: there the
// promises must be seen to fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "crash/bare_sqlite.hpp"
#include "crash/disk_journal.hpp"
#include "crash/factor.hpp"
#include "crash/observed_vfs.hpp"
#include "crash/power_loss.hpp"
#include "crash/recovery.hpp"
#include "crash/scratch.hpp"
#include "crash/workload.hpp"

namespace holdfast::crash {
namespace {

constexpr const char* database_name = "store.db";

bool is_about_a_sync(const DiskEvent& event) {
  using enum DiskEvent::Kind;
  return event.kind == sync_begins || event.kind == synced || event.kind == directory_synced;
}

/// The moments around every sync, and every n-th of the others, from `first` on.
std::vector<std::size_t> cuts(const DiskJournal& journal, std::size_t first, std::size_t every) {
  std::vector<std::size_t> found;
  for (std::size_t cut = first + 1; cut <= journal.events().size(); ++cut) {
    if (is_about_a_sync(journal.events()[cut - 1]) || cut % every == 0) found.push_back(cut);
  }
  return found;
}

std::string where(std::size_t cut, Loss loss) {
  return "cut " + std::to_string(cut) + ", loss " + std::to_string(static_cast<int>(loss));
}

/// One run of the workload, and what was promised during it.
class PowerLossOfAStore : public testing::Test {
 protected:
  void run() {
    const ObservedVfs vfs(disk_.path(), journal_);
    start_ = journal_.position();
    work(disk_.path() / database_name, boots_, ledger_, rounds);
  }

  /// Cuts the power, boots, looks.
  Findings findings(const std::vector<std::size_t>& cuts, Disk disk, std::uint32_t seeds = 1) {
    Findings findings;
    PowerLoss power_loss(journal_.events(), disk);
    for (const std::size_t cut : cuts) {
      power_loss.advance_to(cut);
      const Promises promises = ledger_.at(cut);
      for (std::uint32_t seed = 0; seed < seeds; ++seed) {
        for (const Loss loss : every_loss) {
          power_loss.write_image(image_.path(), loss, static_cast<std::uint32_t>(cut * 1000 + seed));
          look(image_.path() / database_name, promises, {.where = where(cut, loss)}, findings);
        }
      }
    }
    std::cout << journal_.events().size() << " events, " << cuts.size() << " cuts, " << findings << '\n';
    return findings;
  }

  /// Boots, and uses what is there.
  void look(const std::filesystem::path& database, const Promises& promises, const Use& use, Findings& findings) {
    boots_.again();
    recover(database, boots_.machine(), promises, use, findings);
    check_integrity(database, use, findings);
  }

  static constexpr int rounds = 48;

  const Scratch disk_;
  const Scratch image_;
  Boots boots_;
  DiskJournal journal_;
  Ledger ledger_{journal_};
  std::size_t start_ = 0;  ///< before that, the disk was only being described
};

TEST_F(PowerLossOfAStore, KeepsEveryPromise) {
  run();
  const Findings found = findings(cuts(journal_, start_, 4), Disk::honest, factor());
  EXPECT_EQ(found.all(), 0) << found;
}

TEST_F(PowerLossOfAStore, ADiskThatForgetsCommitsBreaksPromisesButNoFile) {
  run();
  const Findings found = findings(cuts(journal_, start_, 100), Disk::forgets_commits);
  EXPECT_GT(found.lost_registers, 0);
  EXPECT_GT(found.old_numbers, 0);
  EXPECT_EQ(found.failures, 0) << found;
  EXPECT_EQ(found.damaged, 0) << found;
}

TEST_F(PowerLossOfAStore, ADiskThatForgetsEverythingBreaksFilesToo) {
  run();
  const Findings found = findings(cuts(journal_, start_, 100), Disk::forgets_everything);
  EXPECT_GT(found.lost_registers, 0);
  EXPECT_GT(found.old_numbers, 0);
  EXPECT_GT(found.failures + found.damaged, 0);
}

TEST_F(PowerLossOfAStore, ABootThatGoesUnnoticedRepeatsNumbers) {
  run();
  Findings found;
  PowerLoss power_loss(journal_.events());
  power_loss.advance_to(journal_.events().size());
  power_loss.write_image(image_.path(), Loss::nothing, 1);
  Boots::clock_again();
  recover(image_.path() / database_name, boots_.machine(), ledger_.at(journal_.events().size()), {}, found);
  EXPECT_GT(found.old_numbers, 0);
}

/// Somebody looked at the database with a shell, which took the log away when it was closed. The next client makes a
/// new one, whose name must be durable before anything in it is.
TEST_F(PowerLossOfAStore, KeepsEveryPromiseInALogThatIsNew) {
  work(disk_.path() / database_name, boots_, ledger_, 8);
  ASSERT_EQ(integrity_of(disk_.path() / database_name), "ok");
  ASSERT_FALSE(exists(disk_.path() / (std::string(database_name) + "-wal")));
  run();
  const Findings found = findings(cuts(journal_, start_, 50), Disk::honest);
  EXPECT_EQ(found.all(), 0) << found;
}

/// The log has grown so long that the store itself moves it into the database.
TEST_F(PowerLossOfAStore, KeepsEveryPromiseWhenItShortensItsLog) {
  {
    const ObservedVfs vfs(disk_.path(), journal_);
    StoreClient client(disk_.path() / database_name, boots_.machine());
    for (int round = 0; round < 14; ++round) {
      const char* name = register_names[round % 2];
      write_register(client, ledger_, name, client.read(name), 900'000);
      take_turns(client, nullptr, lock_names[round % 3], ledger_);
    }
  }
  // From the last sync of the log before the database is written, until after the next one.
  std::vector<std::size_t> all;
  std::size_t last_log_sync = 0;
  for (const std::size_t cut : cuts(journal_, 100, 60)) {
    const DiskEvent& event = journal_.events()[cut - 1];
    if (event.file != database_name && is_about_a_sync(event)) last_log_sync = cut;
    if (event.file != database_name) continue;
    if (all.empty() || all.back() < last_log_sync) all.push_back(last_log_sync);
    all.push_back(cut);
  }
  ASSERT_GE(all.size(), 3U) << "it did not shorten its log";
  const Findings found = findings(all, Disk::honest);
  EXPECT_EQ(found.all(), 0) << found;
}

/// The power fails again while the store is used for the first time after it failed.
TEST_F(PowerLossOfAStore, KeepsEveryPromiseWhenItFailsTwice) {
  run();
  const Scratch second_image;
  Findings first;
  Findings second;
  PowerLoss power_loss(journal_.events());
  const std::vector<std::size_t> all = cuts(journal_, start_, 50);
  const std::size_t step = std::max<std::size_t>(1, all.size() / 12 / factor());
  for (std::size_t i = 0; i < all.size(); i += step) {
    power_loss.advance_to(all[i]);
    power_loss.write_image(image_.path(), every_loss[i % std::size(every_loss)], static_cast<std::uint32_t>(i));
    boots_.again();
    DiskJournal journal;
    Ledger ledger(journal, ledger_.at(all[i]));
    std::size_t start = 0;
    {
      const ObservedVfs vfs(image_.path(), journal);
      start = journal.position();
      recover(image_.path() / database_name, boots_.machine(), ledger_.at(all[i]),
              {.where = "after cut " + std::to_string(all[i]), .ledger = &ledger, .writes_registers = true}, first);
    }
    PowerLoss again(journal.events());
    for (const std::size_t cut : cuts(journal, start, 50)) {
      again.advance_to(cut);
      for (const Loss loss : {Loss::everything, Loss::torn}) {
        again.write_image(second_image.path(), loss, static_cast<std::uint32_t>(cut));
        look(second_image.path() / database_name, ledger.at(cut),
             {.where = "after cut " + std::to_string(all[i]) + ", " + where(cut, loss)}, second);
      }
    }
  }
  std::cout << "first " << first << "; second " << second << '\n';
  EXPECT_EQ(first.all(), 0) << first;
  EXPECT_EQ(second.all(), 0) << second;
}

/// All processes are killed right before a sync; others open the store and find, in the system's cache, what was not
/// synced. Then the power fails: what they have read, and the numbers they were given, must not go back.
class PowerLossAfterAKill : public PowerLossOfAStore {
 protected:
  struct Both {
    Findings killed;
    Findings without_power;
  };

  Both findings_after_kills(Disk disk) {
    const sqlite::Machine same_boot = boots_.machine();
    const std::filesystem::path database = image_.path() / database_name;
    Both found;
    PowerLoss nothing_lost(journal_.events());
    for (const std::size_t cut : cuts(journal_, start_, journal_.events().size())) {
      if (journal_.events()[cut - 1].kind != DiskEvent::Kind::sync_begins) continue;
      nothing_lost.advance_to(cut);
      nothing_lost.write_image(image_.path(), Loss::nothing, 1);
      const Promises promises = ledger_.at(cut);
      Boots::set_started_at(promises.clock);
      DiskJournal journal(journal_, cut);
      Ledger ledger(journal, promises);
      const Use use = {.where = "after a kill at " + std::to_string(cut), .ledger = &ledger};
      {
        const ObservedVfs vfs(image_.path(), journal, ObservedVfs::Existing::known);
        recover(database, same_boot, promises, use, found.killed);
      }
      check_integrity(database, use, found.killed);

      PowerLoss power_loss(journal.events(), disk);
      power_loss.advance_to(journal.events().size());
      power_loss.write_image(image_.path(), Loss::everything, 1);
      look(database, ledger.at(journal.events().size()), {.where = use.where + " and a power loss"},
           found.without_power);
    }
    std::cout << "killed, " << found.killed << "; then without power, " << found.without_power << '\n';
    return found;
  }
};

TEST_F(PowerLossAfterAKill, KeepsEveryPromise) {
  run();
  const Both found = findings_after_kills(Disk::honest);
  EXPECT_EQ(found.killed.all(), 0) << found.killed;
  EXPECT_EQ(found.without_power.all(), 0) << found.without_power;
}

TEST_F(PowerLossAfterAKill, ADiskThatForgetsTheLogBreaksPromises) {
  run();
  const Both found = findings_after_kills(Disk::forgets_the_wal);
  EXPECT_EQ(found.killed.all(), 0) << found.killed;
  EXPECT_GT(found.without_power.lost_registers, 0);
  EXPECT_GT(found.without_power.old_numbers, 0);
}

}  // namespace
}  // namespace holdfast::crash
