#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "ids/worker_lease.hpp"

namespace holdfast::ids {
namespace {

using namespace std::chrono_literals;
using base::Duration;
using base::Instant;
using testing::HasSubstr;
using Look = WorkerLease::Look;
using Over = WorkerLease::Over;
using Rest = WorkerLease::Rest;
using Write = WorkerLease::Write;

constexpr SnowflakeLayout layout;
constexpr WallTime noon = std::chrono::sys_days(std::chrono::November / 1 / 2026) + 12h;
constexpr std::int64_t noon_tick = layout.tick_of(noon);
constexpr std::optional<std::uint32_t> pool_itself = std::nullopt;

/// A lease beside a store that does what a test says.
class Leasing : public testing::Test {
 protected:
  Leasing() { make({}); }

  void make(LeaseRules rules) {
    rules.workers = rules.workers == 0 ? 4 : rules.workers;
    rules.pool = "orders";
    rules.holder = "me";
    rules_ = rules;
    lease_.emplace(rules, [this] { return ++random_; });
  }
  PoolRecord pool_record() const {
    return {.layout = rules_.layout, .workers = rules_.workers, .window = rules_.window};
  }

  Moment moment() const { return {wall, boot, reached}; }
  void pass(Duration time) {
    wall += time;
    boot += time;
  }

  template <class What>
  What next() {
    const WorkerLease::Step step = lease_->step(moment());
    if (const auto* what = std::get_if<What>(&step)) return *what;
    ADD_FAILURE() << "the lease wants something else: " << step.index();
    return {};
  }

  void answer(const Look& look) {
    WorkerLease::Looked looked;
    if (look.pool) looked.pool.value = store[pool_itself];
    if (look.clock) looked.clock.value = StoreTime{store_time(), 1ms};
    for (const std::uint32_t number : look.numbers) looked.numbers.push_back({.value = store[number]});
    lease_->looked(looked, moment());
  }
  Written execute(const Write& write) {
    Versioned& stored = store[write.number];
    if (stored.version != write.expected) return {false, stored};
    stored = {write.value, stored.version + 1};
    return {true, stored};
  }
  void answer(const Write& write) { lease_->wrote({.value = execute(write)}, moment()); }
  void in_doubt() { lease_->wrote({.code = Errc::in_doubt}, moment()); }

  /// Does what it says until it rests or is over; the last step.
  WorkerLease::Step go_on() {
    for (int i = 0; i < 1000; ++i) {
      const WorkerLease::Step step = lease_->step(moment());
      if (const auto* look = std::get_if<Look>(&step)) {
        answer(*look);
      } else if (const auto* write = std::get_if<Write>(&step)) {
        answer(*write);
      } else {
        return step;
      }
    }
    ADD_FAILURE() << "it never rests";
    return Over{};
  }
  Tenure tenure() {
    EXPECT_TRUE(lease_->tenure().has_value());
    return lease_->tenure().value_or(Tenure{});
  }
  WorkerRecord record(std::uint32_t number) {
    return parse_worker_record(store[number].value).value_or(WorkerRecord{});
  }
  void somebody_has(std::uint32_t number, std::int64_t until) {
    store[number] = {
        to_text(WorkerRecord{.layout = rules_.layout, .hwm = until, .nonce = ++random_, .holder = "other"}),
        store[number].version + 1};
  }
  Errc trouble() const { return lease_->trouble() ? lease_->trouble()->code : Errc{}; }
  std::chrono::system_clock::time_point store_time() const { return wall - clock_is_ahead; }

  std::map<std::optional<std::uint32_t>, Versioned> store;
  WallTime wall = noon;
  Instant boot = Instant(1h);
  Duration clock_is_ahead = 0s;
  std::int64_t reached = 0;
  std::uint64_t random_ = 0;
  LeaseRules rules_;
  std::optional<WorkerLease> lease_;
};

// --- taking ---------------------------------------------------------------------------------------------------------

TEST_F(Leasing, TakesANumberInTwoRoundTrips) {
  store[pool_itself] = {to_text(pool_record()), 1};
  const Look look = next<Look>();
  EXPECT_TRUE(look.pool && look.clock);
  EXPECT_EQ(look.numbers.size(), 4U);
  answer(look);
  const Write write = next<Write>();
  EXPECT_EQ(write.expected, 0U);
  EXPECT_FALSE(lease_->tenure()) << "nothing is issued before the store has acknowledged it";
  pass(5ms);
  answer(write);
  EXPECT_EQ(tenure().worker, write.number);
  EXPECT_EQ(tenure().start, noon_tick);
  EXPECT_EQ(tenure().limit, noon_tick + 10'000);
  EXPECT_EQ(record(*write.number).hwm, tenure().limit);
  EXPECT_EQ(record(*write.number).holder, "me");
}

TEST_F(Leasing, OpensThePoolThatNobodyHasOpened) {
  go_on();
  EXPECT_EQ(parse_pool_record(store[pool_itself].value), pool_record());
  EXPECT_TRUE(lease_->tenure());
}

TEST_F(Leasing, JoinsThePoolThatSomebodyElseOpensMeanwhile) {
  answer(next<Look>());
  const Write open = next<Write>();
  EXPECT_EQ(open.number, pool_itself);
  store[pool_itself] = {to_text(pool_record()), 1};
  answer(open);
  go_on();
  EXPECT_TRUE(lease_->tenure());
}

TEST_F(Leasing, LooksAt16NumbersAtATimeAndAtEachOnce) {
  make({.workers = 40});
  std::set<std::uint32_t> seen;
  store[pool_itself] = {to_text(pool_record()), 1};
  for (std::uint32_t number = 0; number < 40; ++number) somebody_has(number, noon_tick + 5000);
  for (const std::size_t size : {16U, 16U, 8U}) {
    const Look look = next<Look>();
    EXPECT_EQ(look.numbers.size(), size);
    seen.insert(look.numbers.begin(), look.numbers.end());
    answer(look);
  }
  EXPECT_EQ(seen.size(), 40U);
  next<Rest>();
}

TEST_F(Leasing, TakesNoNumberWhoseWindowHasNotEnded) {
  for (std::uint32_t number = 0; number < 4; ++number) somebody_has(number, noon_tick + 1 + number * 1000);
  const auto rest = std::get<Rest>(go_on());
  EXPECT_EQ(trouble(), Errc::exhausted);
  EXPECT_THAT(lease_->trouble()->what, HasSubstr("all 4 numbers"));
  EXPECT_FALSE(lease_->trouble()->final);
  EXPECT_LE(rest.until, boot + 1s);
  pass(1100ms);
  go_on();
  ASSERT_TRUE(lease_->tenure());
  EXPECT_EQ(trouble(), Errc{});
  EXPECT_GE(tenure().start, record(tenure().worker).since);
}

TEST_F(Leasing, StartsWhereThePredecessorHasStopped) {
  make({.workers = 1});
  somebody_has(0, noon_tick);
  answer(next<Look>());
  answer(next<Write>());  // the pool
  // The clock is set back before the number is taken.
  wall -= 1s;
  answer(next<Write>());
  EXPECT_EQ(tenure().start, noon_tick);
}

TEST_F(Leasing, TriesTheNextNumberWhenSomebodyElseIsFaster) {
  store[pool_itself] = {to_text(pool_record()), 1};
  answer(next<Look>());
  const Write first = next<Write>();
  somebody_has(*first.number, noon_tick + 10'000);
  answer(first);
  const Write second = next<Write>();
  EXPECT_NE(second.number, first.number);
  answer(second);
  EXPECT_EQ(tenure().worker, second.number);
}

TEST_F(Leasing, DoesNotForgetWhereThePredecessorHasStoppedWhenTheStoreIsAway) {
  make({.workers = 1});
  somebody_has(0, noon_tick);
  answer(next<Look>());
  answer(next<Write>());
  next<Write>();
  lease_->wrote({.code = Errc::unreachable}, moment());
  pass(2s);
  wall -= 4s;
  go_on();
  EXPECT_EQ(tenure().start, noon_tick);
}

// --- joining --------------------------------------------------------------------------------------------------------

TEST_F(Leasing, DoesNotJoinAPoolWithAnotherLayout) {
  PoolRecord other = pool_record();
  other.layout = SnowflakeLayout::javascript();
  store[pool_itself] = {to_text(other), 1};
  EXPECT_TRUE(std::holds_alternative<Over>(go_on()));
  EXPECT_EQ(trouble(), Errc::invalid_argument);
  EXPECT_TRUE(lease_->trouble()->final);
  EXPECT_THAT(lease_->trouble()->what, HasSubstr("41/5/7"));
}

TEST_F(Leasing, DoesNotJoinAPoolWithAnotherEpochSizeWindowOrGuard) {
  PoolRecord others[4] = {pool_record(), pool_record(), pool_record(),
                          pool_record()};  // NOLINT(modernize-avoid-c-arrays)
  others[0].layout = SnowflakeLayout({.epoch = std::chrono::sys_days(std::chrono::January / 1 / 2024)});
  others[1].workers = 5;
  others[2].window = 20s;
  others[3].guard = 2s;
  for (const PoolRecord& other : others) {
    make(rules_);
    store[pool_itself] = {to_text(other), 1};
    go_on();
    EXPECT_EQ(trouble(), Errc::invalid_argument) << described(other);
  }
}

TEST_F(Leasing, DoesNotTakeANumberThatWasUsedWithAnotherLayout) {
  store[pool_itself] = {to_text(pool_record()), 1};
  store[2] = {to_text(WorkerRecord{.layout = SnowflakeLayout::javascript(), .hwm = 5}), 1};
  go_on();
  EXPECT_EQ(trouble(), Errc::invalid_argument) << "the pool's own register may have been lost";
}

TEST_F(Leasing, RefusesAPoolThatIsSomethingElse) {
  store[pool_itself] = {"17", 3};
  go_on();
  EXPECT_EQ(trouble(), Errc::store_failed);
}

// --- extending ------------------------------------------------------------------------------------------------------

TEST_F(Leasing, ExtendsWhenHalfOfTheWindowIsLeftThoughNobodyWantsIds) {
  go_on();
  const std::uint32_t worker = tenure().worker;
  pass(4900ms);
  next<Rest>();
  pass(200ms);
  const Write write = next<Write>();
  EXPECT_EQ(write.number, worker);
  EXPECT_EQ(tenure().limit, noon_tick + 10'000) << "not before it is acknowledged";
  answer(write);
  EXPECT_EQ(tenure().limit, noon_tick + 15'100);
  EXPECT_EQ(tenure().serial, 1U);
}

TEST_F(Leasing, ExtendsFromTheNewestIdIfThatIsAheadOfTheClock) {
  go_on();
  reached = noon_tick + 8000;
  answer(next<Write>());
  EXPECT_EQ(tenure().limit, noon_tick + 18'000);
}

TEST_F(Leasing, GoesOnAfterAnOutageIfNobodyHasTakenTheNumber) {
  go_on();
  pass(1h);
  EXPECT_EQ(tenure().limit, noon_tick + 10'000);
  go_on();
  EXPECT_EQ(tenure().serial, 1U);
  EXPECT_EQ(tenure().limit, noon_tick + 3'610'000);
}

TEST_F(Leasing, ARefusedExtensionIsFinal) {
  go_on();
  const std::uint32_t worker = tenure().worker;
  pass(6s);
  const Write write = next<Write>();
  somebody_has(worker, noon_tick + 20'000);
  answer(write);
  EXPECT_FALSE(lease_->tenure());
  EXPECT_EQ(lease_->counters().lost, 1U);
  go_on();
  EXPECT_NE(tenure().worker, worker);
  EXPECT_EQ(tenure().serial, 2U);
}

TEST_F(Leasing, ARefusedExtensionIsFinalEvenIfTheRecordIsOurOwn) {
  go_on();
  pass(6s);
  const Write write = next<Write>();
  execute(write);  // a clone did the same, or the request was repeated on its way
  answer(write);
  EXPECT_FALSE(lease_->tenure());
}

TEST_F(Leasing, KeepsTheWindowWhileTheStoreIsAwayAndTriesAgain) {
  go_on();
  pass(6s);
  for (int i = 0; i < 5; ++i) {
    next<Write>();
    lease_->wrote({.code = Errc::unreachable}, moment());
    EXPECT_EQ(tenure().limit, noon_tick + 10'000);
    EXPECT_EQ(trouble(), Errc::unreachable);
    const Duration pause = next<Rest>().until - boot;
    EXPECT_GE(pause, 25ms);
    EXPECT_LE(pause, 1s);
    pass(pause);
  }
  answer(next<Write>());
  EXPECT_EQ(trouble(), Errc{});
  EXPECT_GT(tenure().limit, noon_tick + 10'000);
}

TEST_F(Leasing, OrderIsKeptAcrossTenures) {
  go_on();
  reached = noon_tick + 7000;
  lease_->leave(reached);
  go_on();
  EXPECT_EQ(tenure().serial, 2U);
  EXPECT_GE(tenure().start, reached);
}

// --- in doubt -------------------------------------------------------------------------------------------------------

TEST_F(Leasing, AdoptsTheVeryWriteThatWasInDoubt) {
  go_on();
  pass(6s);
  execute(next<Write>());
  in_doubt();
  EXPECT_EQ(tenure().limit, noon_tick + 10'000) << "the old limit, until it is known";
  answer(next<Look>());
  EXPECT_EQ(tenure().limit, noon_tick + 16'000);
}

TEST_F(Leasing, RepeatsAWriteThatWasNotExecutedWithAnotherNonce) {
  go_on();
  pass(6s);
  const Write first = next<Write>();
  in_doubt();
  answer(next<Look>());
  const Write second = next<Write>();
  EXPECT_EQ(second.expected, first.expected);
  EXPECT_NE(parse_worker_record(second.value)->nonce, parse_worker_record(first.value)->nonce);
  // Whichever comes first: the other one is refused.
  execute(first);
  answer(second);
  EXPECT_FALSE(lease_->tenure());
}

TEST_F(Leasing, GivesANumberUpThatSomebodyElseHasWrittenWhileItWasInDoubt) {
  go_on();
  const std::uint32_t worker = tenure().worker;
  pass(6s);
  next<Write>();
  in_doubt();
  somebody_has(worker, noon_tick + 20'000);
  answer(next<Look>());
  EXPECT_FALSE(lease_->tenure());
}

TEST_F(Leasing, StaysInDoubtForAsLongAsTheStoreIsAway) {
  go_on();
  pass(6s);
  execute(next<Write>());
  in_doubt();
  for (int i = 0; i < 10; ++i) {
    const Look look = next<Look>();
    WorkerLease::Looked failed;
    failed.numbers.push_back({.code = Errc::unreachable});
    lease_->looked(failed, moment());
    EXPECT_EQ(tenure().limit, noon_tick + 10'000);
    pass(next<Rest>().until - boot);
  }
  answer(next<Look>());
  EXPECT_EQ(tenure().limit, noon_tick + 16'000);
}

TEST_F(Leasing, AdoptsANumberThatWasTakenInDoubt) {
  store[pool_itself] = {to_text(pool_record()), 1};
  answer(next<Look>());
  const Write take = next<Write>();
  execute(take);
  in_doubt();
  EXPECT_FALSE(lease_->tenure());
  answer(next<Look>());
  EXPECT_EQ(tenure().worker, take.number);
}

// --- giving back ----------------------------------------------------------------------------------------------------

TEST_F(Leasing, GivesTheNumberBackUpToTheLastId) {
  go_on();
  const std::uint32_t worker = tenure().worker;
  reached = noon_tick + 300;
  lease_->leave_for_good(reached);
  EXPECT_FALSE(lease_->tenure());
  EXPECT_TRUE(std::holds_alternative<Over>(go_on()));
  EXPECT_EQ(record(worker).hwm, noon_tick + 300);
  EXPECT_EQ(record(worker).holder, "");
}

TEST_F(Leasing, NeverGivesBackMoreThanItHas) {
  make({.workers = 1});
  somebody_has(0, noon_tick);
  go_on();
  lease_->leave_for_good(0);
  go_on();
  EXPECT_EQ(record(0).hwm, noon_tick) << "the predecessor's ids are below";
}

TEST_F(Leasing, LeavesNothingBehindIfItHasNothing) {
  lease_->leave_for_good(0);
  next<Over>();
  EXPECT_TRUE(store.empty());
}

// --- clocks and the end ---------------------------------------------------------------------------------------------

TEST_F(Leasing, AClockThatIsFarAheadTakesNothing) {
  clock_is_ahead = 3s;
  go_on();
  EXPECT_EQ(trouble(), Errc::wrong_clock);
  EXPECT_FALSE(lease_->trouble()->final);
  for (std::uint32_t number = 0; number < 4; ++number) EXPECT_EQ(store[number].version, 0U);
  wall -= 3s;
  clock_is_ahead = 0s;
  pass(1s);
  go_on();
  EXPECT_TRUE(lease_->tenure());
}

TEST_F(Leasing, AClockThatIsSetForwardIsComparedBeforeTheWindowIsExtended) {
  go_on();
  wall += 1h;
  clock_is_ahead = 1h;
  const Look look = next<Look>();
  EXPECT_TRUE(look.clock);
  answer(look);
  EXPECT_EQ(trouble(), Errc::wrong_clock);
  EXPECT_EQ(tenure().limit, noon_tick + 10'000) << "no poisonous window";
  wall -= 1h;
  clock_is_ahead = 0s;
  pass(6s);
  go_on();
  EXPECT_EQ(tenure().limit, noon_tick + 16'000);
}

TEST_F(Leasing, AClockThatIsRightlySetForwardIsFollowed) {
  go_on();
  wall += 1h;  // the store's, too: this one was late
  go_on();
  EXPECT_EQ(tenure().limit, noon_tick + 3'610'000);
}

TEST_F(Leasing, SkipsAndCountsNumbersThatAWrongClockHasReserved) {
  for (const std::uint32_t number : {0U, 1U}) somebody_has(number, noon_tick + 1'000'000'000);
  for (const std::uint32_t number : {2U, 3U}) somebody_has(number, noon_tick + 5000);
  answer(next<Look>());
  EXPECT_EQ(lease_->counters().poisoned, 2U);
  go_on();
  EXPECT_THAT(lease_->trouble()->what, HasSubstr("2 of them reserved for a long time"));
  pass(6s);
  go_on();
  EXPECT_GE(tenure().worker, 2U);
}

TEST_F(Leasing, WithoutAStoresClockALivingNeighbourOutvotesAWrongClock) {
  make({.store_has_clock = false});
  somebody_has(1, noon_tick - 24 * 3'600'000);  // the neighbour's clock is right
  const auto rest = std::get<Rest>(go_on());
  EXPECT_EQ(rest.until, boot + 10s);
  pass(10s);
  somebody_has(1, noon_tick - 24 * 3'600'000 + 10'000);
  go_on();
  EXPECT_EQ(trouble(), Errc::wrong_clock);
  EXPECT_FALSE(lease_->tenure());
}

TEST_F(Leasing, WithoutAStoresClockADeadNeighbourCostsAWaitAndNoMore) {
  make({.store_has_clock = false});
  somebody_has(1, noon_tick - 24 * 3'600'000);
  go_on();
  pass(10s);
  go_on();
  EXPECT_TRUE(lease_->tenure());
}

TEST_F(Leasing, AClockBeforeTheEpochIsWrong) {
  wall = layout.time_of(-1000);
  go_on();
  EXPECT_EQ(trouble(), Errc::wrong_clock);
}

TEST_F(Leasing, ReservesNothingBeyondTheEndOfTheLayout) {
  wall = layout.ends() - 3s;
  go_on();
  EXPECT_EQ(tenure().limit, layout.ticks());
  pass(2900ms);
  next<Rest>();
  EXPECT_EQ(tenure().limit, layout.ticks());
}

TEST_F(Leasing, TheEndOfTheLayoutIsFinal) {
  wall = layout.ends() - 1ms;
  go_on();
  EXPECT_TRUE(lease_->tenure());
  pass(1ms);
  EXPECT_TRUE(std::holds_alternative<Over>(go_on()));
  EXPECT_FALSE(lease_->tenure());
  EXPECT_EQ(trouble(), Errc::end_of_life);
  EXPECT_TRUE(lease_->trouble()->final);
}

// --- a store that forgets -------------------------------------------------------------------------------------------

TEST_F(Leasing, WaitsForAWindowAndTheGuardBeforeItTrustsAStoreThatForgets) {
  make({.survive_loss = true});
  const auto rest = std::get<Rest>(go_on());
  EXPECT_FALSE(lease_->tenure());
  EXPECT_EQ(rest.until, boot + 12s);
  pass(12s);
  answer(next<Write>());
  EXPECT_EQ(tenure().start, noon_tick + 12'000);
  EXPECT_EQ(tenure().limit, noon_tick + 22'000);
}

TEST_F(Leasing, GivesUpIfTheStoreHasForgottenWhileItWaited) {
  make({.survive_loss = true});
  go_on();
  for (auto& [number, stored] : store) {
    if (number) stored = {};
  }
  pass(12s);
  answer(next<Write>());
  EXPECT_FALSE(lease_->tenure());
  EXPECT_EQ(lease_->counters().lost, 1U);
}

TEST_F(Leasing, LeavesTheGuardBetweenAPredecessorAndItself) {
  make({.workers = 1, .survive_loss = true});
  somebody_has(0, noon_tick - 1999);
  go_on();
  EXPECT_EQ(trouble(), Errc::exhausted);
  pass(1s);
  go_on();
  EXPECT_EQ(trouble(), Errc{});
}

TEST_F(Leasing, ALapsedWindowIsTakenLikeSomebodyElses) {
  make({.workers = 1, .survive_loss = true});
  go_on();
  pass(12s);
  go_on();
  EXPECT_TRUE(lease_->tenure());
  pass(10s);
  go_on();
  EXPECT_FALSE(lease_->tenure());
  EXPECT_EQ(trouble(), Errc::exhausted) << "the guard has not passed";
  pass(2s);
  go_on();
  EXPECT_FALSE(lease_->tenure()) << "it waits again";
  pass(12s);
  go_on();
  EXPECT_EQ(tenure().serial, 2U);
}

}  // namespace
}  // namespace holdfast::ids
