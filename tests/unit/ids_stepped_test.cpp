// Rows in several stores, their records, and changing their number.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <thread>

#include "holdfast/ids/stepped.hpp"
#include "holdfast/register.hpp"
#include "ids/counter.hpp"
#include "ids/stepped_record.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"

namespace holdfast::ids {
namespace {

using test::errc_of;
using Witness = SteppedOptions::Witness;
using Stage = SteppedRecord::State;

TEST(SteppedRecord, IsReadAsItWasWritten) {
  const SteppedRecord record = {
      .epoch = 3, .stores = 5, .index = 4, .base = 12'000, .set = "9f86d081884c7d65", .state = Stage::open};
  EXPECT_EQ(stepped_record_in(to_text(record)), record);
  for (const char* text :
       {"", "17", "epoch 0 stores 1 index 0 base 0 set a open", "epoch 1 stores 1 index 1 base 0 set a open",
        "epoch 1 stores 2 index 0 base 0 set a", "epoch 1 stores 2 index 0 base 0 set a other"}) {
    EXPECT_FALSE(stepped_record_in(text)) << text;
  }
}

TEST(SteppedRecord, TheRowsOfAnEpochShareNoIdAndTheNextEpochLiesAbove) {
  std::set<std::uint64_t> ids;
  for (std::uint32_t index = 0; index < 3; ++index) {
    const SteppedRecord record = {.stores = 3, .index = index, .base = 100};
    for (std::int64_t number = 1; number <= 10; ++number) EXPECT_TRUE(ids.insert(record.id_of(number)).second);
  }
  EXPECT_EQ(*ids.begin(), 101u);
  EXPECT_EQ(*ids.rbegin(), 130u);
}

TEST(SteppedRecord, KnowsItsLastNumber) {
  const SteppedRecord record = {.stores = 3, .index = 1, .base = 100};
  EXPECT_EQ(record.last_number(101), 0);
  EXPECT_EQ(record.last_number(102), 1);
  EXPECT_EQ(record.last_number(104), 1);
  EXPECT_EQ(record.last_number(105), 2);
}

TEST(SteppedRow, ThatIsClosedCannotBeAddedTo) {
  EXPECT_FALSE(number_in(closed_row(17)));
  EXPECT_EQ(number_of_row(closed_row(17)), 17);
  EXPECT_EQ(number_of_row("17"), 17);
  EXPECT_FALSE(number_of_row("-17"));
  EXPECT_FALSE(number_of_row("closed"));
}

class SteppedTest : public testing::Test {
 protected:
  /// So many stores, each for itself.
  SteppedStores stores(std::size_t count) {
    while (clients_.size() < count) clients_.emplace_back("memory:stepped-" + std::to_string(clients_.size()));
    return {clients_.begin(), clients_.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  Client& store(std::size_t index) { return stores(index + 1).back(); }
  SteppedRecord record(std::size_t index) {
    return stepped_record_in(Register(store(index), record_register("t")).get().value).value();
  }
  void write(std::size_t index, const SteppedRecord& record) {
    Register(store(index), record_register("t")).set(to_text(record));
  }
  Register row(std::size_t index, std::uint64_t epoch = 1) { return {store(index), row_register("t", epoch)}; }

  /// Takes ids, none of which anybody has taken before.
  void take(Stepped& tickets, int count) {
    for (int call = 0; call < count; ++call) {
      const std::uint64_t id = tickets.next();
      ASSERT_TRUE(issued_.insert(id).second) << id;
    }
  }

  std::deque<Client> clients_;
  std::set<std::uint64_t> issued_;
};

TEST_F(SteppedTest, YieldsEachIdOnce) {
  Stepped::set_up(stores(3), "t");
  Stepped one(stores(3), "t", {.batch = 10});
  SteppedStores reversed = stores(3);
  std::ranges::reverse(reversed);
  Stepped other(reversed, "t", {.batch = 7});
  for (int round = 0; round < 20; ++round) {
    take(one, 11);
    take(other, 11);
    const IdRange range = one.reserve(5);
    ASSERT_EQ(range.size(), 5u);
    for (const std::uint64_t id : range) EXPECT_TRUE(issued_.insert(id).second);
    EXPECT_EQ(range[1] - range[0], 3u);
  }
  EXPECT_EQ(*issued_.begin(), 1u);
  EXPECT_EQ(one.metrics().counter.issued, 20u * 16);
}

TEST_F(SteppedTest, TakesFromTheStoreThatIsLeastFarOn) {
  Stepped::set_up(stores(3), "t");
  Stepped tickets(stores(3), "t", {.batch = 10});
  take(tickets, 1'000);
  EXPECT_LE(tickets.metrics().skew, 10u);
  EXPECT_LE(*issued_.rbegin(), 1'030u);
}

TEST_F(SteppedTest, NeedsToBeSetUp) {
  Stepped tickets(stores(2), "t");
  EXPECT_EQ(errc_of([&] { tickets.next(); }), Errc::store_failed);
  EXPECT_FALSE(tickets.try_next());
  Stepped::set_up(stores(2), "t");
  take(tickets, 1);
  EXPECT_TRUE(tickets.try_next());
}

TEST_F(SteppedTest, SettingUpTwiceChangesNothingAndOtherStoresAreRefused) {
  Stepped::set_up(stores(3), "t");
  const SteppedRecord before = record(1);
  Stepped::set_up(stores(3), "t");
  SteppedStores reversed = stores(3);
  std::ranges::reverse(reversed);
  Stepped::set_up(reversed, "t");
  EXPECT_EQ(record(1), before);
  EXPECT_EQ(errc_of([&] { Stepped::set_up(stores(2), "t"); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { Stepped::set_up(stores(4), "t"); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { Stepped::set_up({}, "t"); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Stepped::set_up({store(0), store(0)}, "t"); }), Errc::invalid_argument);
}

TEST_F(SteppedTest, NobodyUsesWhatWasOnlyProposed) {
  for (std::uint32_t index = 0; index < 2; ++index) {
    write(index, {.stores = 2, .index = index, .set = "a", .state = Stage::proposed});
  }
  Stepped tickets(stores(2), "t");
  EXPECT_EQ(errc_of([&] { tickets.next(); }), Errc::store_failed);
  Stepped::set_up(stores(2), "t");
  take(tickets, 10);
}

TEST_F(SteppedTest, ASetUpThatWasInterruptedIsCompleted) {
  write(0, {.stores = 3, .index = 2, .set = "a", .state = Stage::open});
  write(1, {.stores = 3, .index = 0, .set = "a", .state = Stage::proposed});
  write(2, {.stores = 3, .index = 0, .set = "another", .state = Stage::proposed});
  Stepped::set_up(stores(3), "t");
  EXPECT_EQ(record(1).index, 0u);
  EXPECT_EQ(record(2), (SteppedRecord{.stores = 3, .index = 1, .set = "a", .state = Stage::open}));
}

TEST_F(SteppedTest, ANewNumberOfStoresBeginsAboveAllIdsOfTheOldOne) {
  Stepped::set_up(stores(2), "t");
  Stepped old(stores(2), "t", {.batch = 10});
  take(old, 105);
  Stepped::change(stores(2), stores(3), "t");
  EXPECT_EQ(record(2).epoch, 2u);
  EXPECT_GE(record(2).base, *issued_.rbegin());
  Stepped next(stores(3), "t", {.batch = 10});
  take(next, 100);
  take(old, 100);
  EXPECT_EQ(old.metrics().counter.went_back, 0u);
}

TEST_F(SteppedTest, AStoreThatWasReplacedYieldsNothingMore) {
  Stepped::set_up(stores(2), "t");
  Stepped old(stores(2), "t", {.batch = 1});
  take(old, 10);
  Stepped::change(stores(2), {store(1), store(2)}, "t");
  EXPECT_EQ(record(0).state, Stage::retired);
  Stepped next({store(1), store(2)}, "t", {.batch = 1});
  take(next, 10);
  take(old, 10);
  EXPECT_GT(old.metrics().failovers, 0u) << "its first store is refused";
  EXPECT_EQ(errc_of([&] { Stepped::set_up(stores(2), "t"); }), Errc::store_failed);
  Stepped::change({store(1), store(2)}, stores(2), "t");
  take(next, 10);
  take(old, 10);
}

TEST_F(SteppedTest, AChangeMayBeRepeated) {
  Stepped::set_up(stores(2), "t");
  Stepped old(stores(2), "t", {.batch = 1});
  take(old, 10);
  Stepped::change(stores(2), stores(3), "t");
  take(old, 10);
  const SteppedRecord before = record(2);
  Stepped::change(stores(2), stores(3), "t");
  EXPECT_EQ(record(2), before);
  Stepped::change(stores(3), stores(3), "t");
  EXPECT_EQ(record(2).epoch, 3u);
  take(old, 10);
}

// A change stops after each of its writes, and is called again.
TEST_F(SteppedTest, AChangeThatWasInterruptedAnywhereIsCompleted) {
  Stepped::set_up(stores(2), "t");
  Stepped old(stores(2), "t", {.batch = 1});
  take(old, 25);
  const SteppedRecord first = record(0);
  const SteppedRecord second = record(1);
  const std::int64_t furthest = std::stoll(row(0).get().value);
  Stepped::change(stores(2), {store(1), store(2)}, "t");
  const std::vector<SteppedRecord> ended = {record(0), record(1), record(2)};
  const auto proposed = [](SteppedRecord record) {
    record.state = Stage::proposed;
    return record;
  };
  const SteppedRecord nothing = {.epoch = 0};
  const std::vector<std::vector<SteppedRecord>> stages = {
      {first, second, nothing},
      {first, proposed(ended[1]), nothing},
      {first, proposed(ended[1]), proposed(ended[2])},
      {first, ended[1], proposed(ended[2])},
      {first, ended[1], ended[2]},
      ended,
  };
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    for (std::size_t index = 0; index < 3; ++index) {
      const SteppedRecord& was = stages[stage][index];
      if (was.epoch == 0 && record(index).epoch != 0) {
        write(index, proposed(ended[2]));  // a register cannot be removed; what was proposed counts as nothing
      } else {
        write(index, was);
      }
    }
    row(0).set(closed_row(furthest));
    Stepped::change(stores(2), {store(1), store(2)}, "t");
    EXPECT_EQ(record(0).state, Stage::retired) << stage;
    EXPECT_EQ(record(1).set, record(2).set) << stage;
    EXPECT_EQ(record(1).state, Stage::open) << stage;
    EXPECT_EQ(record(2).state, Stage::open) << stage;
    EXPECT_NE(record(1).index, record(2).index) << stage;
    EXPECT_GE(record(1).base, *issued_.rbegin()) << stage;
  }
}

TEST_F(SteppedTest, WhileStoresAreBeingChangedThereAreNoIdsFromThem) {
  Stepped::set_up(stores(1), "t");
  Stepped tickets(stores(1), "t", {.batch = 1});
  take(tickets, 3);
  row(0).set(closed_row(3));
  EXPECT_EQ(errc_of([&] { tickets.next(); }), Errc::store_failed);
  EXPECT_EQ(row(0).get().value, "closed 3");
  Stepped::change(stores(1), stores(2), "t");
  take(tickets, 3);
}

TEST_F(SteppedTest, ARowBelowItsWitnessIsRefused) {
  Stepped::set_up(stores(3), "t");
  {
    Stepped tickets(stores(3), "t", {.batch = 10, .witness = Witness::always});
    take(tickets, 300);
  }
  row(0).set("10");  // the store has lost what came later, and this process has never seen it
  Stepped tickets(stores(3), "t", {.batch = 10, .witness = Witness::always});
  take(tickets, 300);
  EXPECT_GT(tickets.metrics().failovers, 0u);
  EXPECT_EQ(std::stoll(row(0).get().value) % 10, 0);
  Stepped::change(stores(3), stores(3), "t");
  EXPECT_TRUE(test::eventually([&] {
    take(tickets, 30);
    return row(0, 2).get().version > 0;
  })) << "the store is used again";
}

// Negative control.
TEST_F(SteppedTest, WithoutAWitnessARowThatWasLostRepeatsIds) {
  Stepped::set_up(stores(3), "t");
  std::set<std::uint64_t> issued;
  const auto repeats = [&] {
    Stepped tickets(stores(3), "t", {.batch = 10, .witness = Witness::never});
    std::size_t repeated = 0;
    for (int call = 0; call < 300; ++call) repeated += issued.insert(tickets.next()).second ? 0 : 1;
    return repeated;
  };
  EXPECT_EQ(repeats(), 0u);
  row(0).set("10");
  EXPECT_GT(repeats(), 50u);
}

// Negative control: what would happen if a new number of stores used the old rows.
TEST_F(SteppedTest, RowsThatWereNotClosedWouldRepeatIds) {
  Stepped::set_up(stores(2), "t");
  Stepped old(stores(2), "t", {.batch = 1});
  std::set<std::uint64_t> issued;
  for (int call = 0; call < 30; ++call) issued.insert(old.next());
  for (std::uint32_t index = 0; index < 3; ++index) {
    write(index, {.stores = 3, .index = index, .set = "b", .state = Stage::open});
  }
  Stepped next(stores(3), "t", {.batch = 1});
  std::size_t repeated = 0;
  for (int call = 0; call < 30; ++call) {
    repeated += issued.insert(old.next()).second ? 0 : 1;
    repeated += issued.insert(next.next()).second ? 0 : 1;
  }
  EXPECT_GT(repeated, 10u);
}

TEST_F(SteppedTest, ManyProcessesWithWitnessesRepeatNothing) {
  Stepped::set_up(stores(2), "t");
  std::mutex mutex;
  {
    std::vector<std::jthread> processes;
    for (int process = 0; process < 4; ++process) {
      processes.emplace_back([&] {
        Stepped tickets(stores(2), "t", {.batch = 3, .witness = Witness::always});
        for (int call = 0; call < 50; ++call) {
          const std::uint64_t id = tickets.next();
          const std::scoped_lock lock(mutex);
          EXPECT_TRUE(issued_.insert(id).second) << id;
        }
      });
    }
  }
  EXPECT_EQ(issued_.size(), 200u);
}

TEST_F(SteppedTest, EndsWhenAllRowsHaveEnded) {
  Stepped::set_up(stores(3), "t");
  Stepped tickets(stores(3), "t", {.counter = {.last = 100}, .batch = 7});
  take(tickets, 100);
  EXPECT_EQ(*issued_.rbegin(), 100u);
  EXPECT_EQ(errc_of([&] { tickets.next(); }), Errc::end_of_life);
}

TEST_F(SteppedTest, AForkedChildHasNothingOfIt) {
  Stepped::set_up(stores(1), "t");
  Stepped tickets(stores(1), "t");
  take(tickets, 1);
  EXPECT_TRUE(test::succeeds_in_forked_child([&](test::ChildReport& report) {
    report.expect(!tickets.try_next(), "it issues its parent's ids");
    report.expect(errc_of([&] { tickets.next(); }) == Errc::forked, "it does not say why");
  }));
  take(tickets, 1);
}

TEST_F(SteppedTest, ASingleStoreMayBeClosedAndTheOthersGoOn) {
  Stepped::set_up(stores(3), "t");
  Stepped tickets(stores(3), "t", {.batch = 1});
  take(tickets, 9);
  clients_.front().close();
  take(tickets, 9);
  EXPECT_GT(tickets.metrics().failovers, 0u);
}

}  // namespace
}  // namespace holdfast::ids
