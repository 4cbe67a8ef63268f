// Ids that carry a time and a worker number.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "conformance/answers.hpp"
#include "conformance/fixture.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "holdfast/ids/worker_pool.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using ids::Order;
using ids::Snowflake;
using ids::SnowflakeLayout;
using ids::SnowflakeOptions;
using std::chrono::system_clock;
using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::Recorder;
using testing::HasSubstr;

using Ids = std::vector<std::uint64_t>;

/// How often an id is there that was there before.
std::size_t duplicates_in(Ids ids) {
  std::ranges::sort(ids);
  std::size_t found = 0;
  for (std::size_t i = 1; i < ids.size(); ++i) found += ids[i] == ids[i - 1] ? 1U : 0U;
  return found;
}

/// Windows that end soon.
SnowflakeOptions short_windows(std::uint32_t workers) { return {.workers = workers, .window = 1s, .max_ahead = 500ms}; }

std::string register_of(const std::string& pool, std::uint32_t worker) {
  return "id/" + pool + "/" + std::to_string(worker);
}

/// What the record of a number says after `key`.
std::string field(const std::string& record, const std::string& key) {
  const std::size_t at = record.find(key + ' ');
  if (at == std::string::npos) return "";
  const std::size_t begin = at + key.size() + 1;
  return record.substr(begin, record.find('\n', begin) - begin);
}

// ID01, ID02
TEST_P(SnowflakeConformance, ManyThreadsOfManyClientsGetDifferentIds) {
  for (const Order order : {Order::process, Order::thread}) {
    constexpr int clients = 3;
    constexpr int threads = 3;
    constexpr int each = 10'000;
    const std::string pool = order == Order::process ? "by-process" : "by-thread";
    std::array<std::array<Ids, threads>, clients> issued;
    {
      std::vector<std::jthread> running;
      for (auto& of_client : issued) {
        const auto client = std::make_shared<Client>(open());
        const auto ids = std::make_shared<Snowflake>(*client, pool, SnowflakeOptions{.order = order});
        for (Ids& of_thread : of_client) {
          running.emplace_back([client, ids, &of_thread] {
            for (int i = 0; i < each; ++i) of_thread.push_back(ids->next());
          });
        }
      }
    }
    Ids all;
    for (const auto& of_client : issued) {
      for (const Ids& of_thread : of_client) {
        EXPECT_TRUE(std::ranges::is_sorted(of_thread));
        all.insert(all.end(), of_thread.begin(), of_thread.end());
      }
    }
    EXPECT_EQ(all.size(), std::size_t{clients} * threads * each);
    EXPECT_EQ(duplicates_in(std::move(all)), 0U);
  }
}

// ID03
TEST_P(SnowflakeConformance, AnIdCarriesTheTimeOfItsCreation) {
  Client client = open();
  Snowflake ids(client, "orders");
  ids.next();
  for (int i = 0; i < 100; ++i) {
    const auto before = std::chrono::floor<milliseconds>(system_clock::now());
    const std::uint64_t id = ids.next();
    const auto after = system_clock::now();
    const auto parts = ids.layout().decode(id);
    EXPECT_GE(parts.time, before - 20ms) << "the cheap clock of the kernel is late by a timer interrupt";
    EXPECT_LE(parts.time, after);
    EXPECT_EQ(parts.worker, ids.metrics().worker);
    const auto [first, last] = ids.layout().bounds(before - 20ms, after);
    EXPECT_GE(id, first);
    EXPECT_LE(id, last);
  }
}

// ID04
TEST_P(SnowflakeConformance, NoTwoGeneratorsHaveOneWorkerNumber) {
  constexpr std::size_t count = 20;
  Client client = open();
  Client other = open();
  std::vector<std::unique_ptr<Snowflake>> generators;
  for (std::size_t i = 0; i < count; ++i) {
    generators.push_back(
        std::make_unique<Snowflake>(i % 2 == 0 ? client : other, "orders", SnowflakeOptions{.workers = count}));
  }
  std::set<std::uint32_t> numbers;
  for (const auto& generator : generators) {
    const auto id = generator->next_for(test::patience);
    ASSERT_TRUE(id);
    numbers.insert(generator->layout().decode(*id).worker);
  }
  EXPECT_EQ(numbers.size(), count);
}

// ID05
TEST_P(SnowflakeConformance, APoolThatIsUsedUpSaysSo) {
  Client client = open();
  auto first = std::make_unique<Snowflake>(client, "small", SnowflakeOptions{.workers = 1});
  first->next();
  Snowflake second(client, "small", {.workers = 1});
  try {
    second.next();
    ADD_FAILURE() << "two generators have one worker number";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::exhausted);
    EXPECT_EQ(error.code(), Condition::retry);
    EXPECT_THAT(error.what(), HasSubstr("all 1 numbers"));
    EXPECT_THAT(error.what(), HasSubstr("'small'"));
  }
  EXPECT_FALSE(second.next_for(10ms));
  EXPECT_FALSE(second.try_next());
  first.reset();
  EXPECT_TRUE(second.next_for(test::patience)) << "a number that was given back is free at once";
}

TEST_P(SnowflakeConformance, ANumberIsGivenBackUpToTheLastId) {
  Client client = open();
  std::uint64_t last = 0;
  {
    Snowflake ids(client, "small", {.workers = 1});
    for (int i = 0; i < 1000; ++i) last = ids.next();
  }
  const std::string record = Register(client, register_of("small", 0)).get().value;
  EXPECT_EQ(field(record, "holder"), "");
  const SnowflakeLayout layout;
  EXPECT_EQ(std::stoll(field(record, "hwm")), layout.tick_of(layout.decode(last).time) + 1);
  Snowflake successor(client, "small", {.workers = 1});
  EXPECT_GT(successor.next_for(test::patience).value(), last);
}

// A predecessor's window is respected, whatever this host's clock says. ID06, ID09
TEST_P(SnowflakeConformance, StartsAfterTheWindowOfAPredecessor) {
  Client client = open();
  const SnowflakeLayout layout;
  const SnowflakeOptions options = {.workers = 1, .window = 5s};
  {
    Snowflake(client, "small", options).next();
  }
  Register number(client, register_of("small", 0));
  const std::int64_t hwm = layout.tick_of(system_clock::now()) + 1500;
  number.set("snowflake " + to_string(layout) + "\nhwm " + std::to_string(hwm) + "\nsince 0\nnonce 1\nholder other\n");
  Snowflake ids(client, "small", options);
  const auto id = ids.next_for(test::patience);
  ASSERT_TRUE(id);
  EXPECT_GE(layout.tick_of(layout.decode(*id).time), hwm);
}

// ID07
TEST_P(SnowflakeConformance, AWorkerNumberThatWasLostIssuesNothingBeyondItsWindow) {
  Client client = open();
  Recorder<std::string> log;
  SnowflakeOptions options = short_windows(2);
  options.log = [&log](LogLevel level, std::string_view text) {
    if (level == LogLevel::warning) log.add(std::string(text));
  };
  Snowflake ids(client, "orders", options);
  const std::uint32_t lost = ids.layout().decode(ids.next_for(test::patience).value()).worker;
  Register number(client, register_of("orders", lost));
  // Somebody else has it: the window that was acknowledged is the last one.
  Written stolen;
  std::int64_t limit = 0;
  do {
    const Versioned now = number.get();
    limit = std::stoll(field(now.value, "hwm"));
    stolen =
        number.compare_and_set(now.version, "snowflake " + to_string(ids.layout()) + "\nhwm " +
                                                std::to_string(limit + 1000) + "\nsince 0\nnonce 1\nholder thief\n");
  } while (!stolen);
  EXPECT_TRUE(eventually([&] {
    const auto id = ids.next_for(test::patience);
    if (!id) return false;
    const auto parts = ids.layout().decode(*id);
    if (parts.worker != lost) return true;
    EXPECT_LT(ids.layout().tick_of(parts.time), limit);
    return false;
  }));
  EXPECT_GE(ids.metrics().lost, 1U);
  EXPECT_GE(ids.metrics().tenures, 2U);
  ASSERT_TRUE(log.reaches(1));
  EXPECT_THAT(log.all().front(), HasSubstr("'orders' was lost"));
}

TEST_P(SnowflakeConformance, KeepsItsNumberWhileNobodyWantsIds) {
  Client client = open();
  Snowflake ids(client, "orders", short_windows(1));
  ids.next_for(test::patience);
  const auto before = ids.metrics();
  EXPECT_TRUE(eventually([&] { return ids.metrics().extensions >= before.extensions + 3; }));
  EXPECT_EQ(ids.metrics().tenures, before.tenures);
  EXPECT_TRUE(ids.try_next());
}

// ID10
TEST_P(SnowflakeConformance, WhenTheSequenceIsUsedUpTheNextTickIsAwaited) {
  Client client = open();
  Snowflake ids(client, "slow", {.layout = SnowflakeLayout({.sequence_bits = 1})});
  Ids issued = {ids.next()};
  bool refused = false;
  for (int i = 0; i < 100 && !refused; ++i) refused = !ids.try_next();
  EXPECT_TRUE(refused) << "two ids per millisecond";
  for (int i = 0; i < 200; ++i) issued.push_back(ids.next());
  const SnowflakeLayout& layout = ids.layout();
  EXPECT_EQ(duplicates_in(issued), 0U);
  EXPECT_GE(layout.decode(issued.back()).time - layout.decode(issued.front()).time, 98ms);
  EXPECT_LE(layout.decode(issued.back()).time, system_clock::now()) << "nothing is borrowed from the future";
}

// ID12
TEST_P(SnowflakeConformance, TheEndOfTheLayoutIsAnErrorOfItsOwn) {
  Client client = open();
  const auto second = std::chrono::floor<std::chrono::seconds>(system_clock::now());
  const SnowflakeLayout ends_soon(
      {.time_bits = 10, .unit = SnowflakeLayout::Unit::seconds, .epoch = second - 1021s});  // ends in 2 to 3 s
  Snowflake ids(client, "short-lived", {.layout = ends_soon});
  EXPECT_EQ(ids.traits().ends, second + 3s);
  Ids issued;
  std::optional<Errc> end;
  EXPECT_TRUE(eventually([&] {
    end = errc_of([&] { issued.push_back(ids.next()); });
    return end.has_value();
  }));
  EXPECT_EQ(end, Errc::end_of_life);
  EXPECT_EQ(errc_of([&] { ids.try_next(); }), Errc::end_of_life);
  EXPECT_EQ(errc_of([&] { ids.next_for(1h); }), Errc::end_of_life) << "it is not waited for what never comes";
  EXPECT_FALSE(make_error_code(*end) == Condition::retry);
  EXPECT_EQ(duplicates_in(issued), 0U);
  EXPECT_LE(issued.back(), ends_soon.compose(1023, 1023, 4095));
}

// ID13
TEST_P(SnowflakeConformance, AForkedChildRepeatsNoId) {
  for (const Order order : {Order::process, Order::thread}) {
    Client client = open();
    auto ids = std::make_unique<Snowflake>(client, "forked", SnowflakeOptions{.order = order});
    ids->next();
    Answers<std::uint64_t> never;
    EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
      report.expect(errc_of([&] { ids->try_next(); }) == Errc::forked, "try_next");
      report.expect(errc_of([&] { ids->next(); }) == Errc::forked, "next");
      report.expect(errc_of([&] { ids->next_for(1h); }) == Errc::forked, "next_for");
      report.expect(errc_of([&] { ids->reserve(5); }) == Errc::forked, "reserve");
      report.expect(errc_of([&] { ids->try_reserve(5); }) == Errc::forked, "try_reserve");
      report.expect(errc_of([&] { ids->async_next(into(never)); }) == Errc::forked, "async_next");
      report.expect(errc_of([&] { ids->metrics(); }) == Errc::forked, "metrics");
      ids->close();
      ids.reset();
    }));
    EXPECT_TRUE(ids->try_next()) << "what the child destroys, the parent keeps";
  }
}

TEST_P(SnowflakeConformance, ADifferentIdeaOfThePoolIsRefused) {
  Client client = open();
  Snowflake first(client, "orders");
  first.next();
  const SnowflakeOptions others[] = {
      // NOLINT(modernize-avoid-c-arrays): a table
      {.layout = SnowflakeLayout::javascript()},
      {.layout = SnowflakeLayout({.epoch = std::chrono::sys_days(std::chrono::January / 1 / 2024)})},
      {.workers = 7},
      {.window = 20s},
      {.survive_loss = true}};
  for (const SnowflakeOptions& other : others) {
    Snowflake second(client, "orders", other);
    EXPECT_EQ(errc_of([&] { second.next(); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { second.next_for(1h); }), Errc::invalid_argument);
  }
  EXPECT_TRUE(first.try_next());
}

TEST_P(SnowflakeConformance, ThePoolCanBeLookedAt) {
  Client client = open({.label = "billing"});
  EXPECT_FALSE(ids::look_at_workers(client, "orders"));
  SnowflakeOptions options = {.workers = 70};
  std::uint64_t id = 0;
  {
    Snowflake ids(client, "orders", options);
    id = ids.next();
    const auto pool = ids::look_at_workers(client, "orders");
    ASSERT_TRUE(pool);
    EXPECT_EQ(pool->layout, options.layout);
    EXPECT_EQ(pool->workers, 70U);
    EXPECT_EQ(pool->window, 10s);
    ASSERT_EQ(pool->used.size(), 1U);
    const ids::WorkerStatus& worker = pool->used.front();
    EXPECT_EQ(worker.number, ids.layout().decode(id).worker);
    EXPECT_EQ(worker.state, ids::WorkerStatus::State::held);
    EXPECT_THAT(worker.holder, HasSubstr(":" + std::to_string(client.identity().pid) + " billing"));
    EXPECT_LE(worker.since, ids.layout().decode(id).time);
    EXPECT_GT(worker.reserved_until, worker.since + 9s);
  }
  EXPECT_EQ(ids::look_at_workers(client, "orders").value().used.at(0).state, ids::WorkerStatus::State::given_back);
  Register(client, register_of("orders", options.layout.decode(id).worker)).set("something else");
  EXPECT_EQ(ids::look_at_workers(client, "orders").value().used.at(0).state, ids::WorkerStatus::State::poisoned);
  Register(client, "id/other").set("something else");
  EXPECT_EQ(errc_of([&] { ids::look_at_workers(client, "other"); }), Errc::store_failed);
}

TEST_P(SnowflakeConformance, ReservesIdsThatFollowEachOther) {
  Client client = open();
  for (const Order order : {Order::process, Order::thread}) {
    Snowflake ids(client, "batches", {.order = order});
    std::uint64_t newest = ids.next();
    Ids all = {newest};
    for (int round = 0; round < 50; ++round) {
      const ids::IdRange range = ids.reserve(500);
      ASSERT_EQ(range.size(), 500U);
      EXPECT_GT(range.front(), newest);
      EXPECT_EQ(range.back(), range.front() + 499);
      all.insert(all.end(), range.begin(), range.end());
      newest = ids.next();
      EXPECT_GT(newest, range.back());
      all.push_back(newest);
    }
    EXPECT_EQ(duplicates_in(all), 0U);
    EXPECT_EQ(ids.reserve(4096).size(), 4096U);
    EXPECT_EQ(errc_of([&] { ids.reserve(0); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { ids.reserve(4097); }), Errc::invalid_argument);
    EXPECT_EQ(errc_of([&] { ids.try_reserve(4097); }), Errc::invalid_argument);
  }
}

TEST_P(SnowflakeConformance, CallsBack) {
  Client client = open();
  Snowflake ids(client, "orders");
  Answers<std::uint64_t> answers;
  constexpr std::size_t count = 1000;
  for (std::size_t i = 0; i < count; ++i) ids.async_next(into(answers));  // also before there is a worker number
  ASSERT_TRUE(answers.reaches(count));
  Ids issued;
  for (const auto& answer : answers.all()) {
    EXPECT_FALSE(answer.code) << answer.code.message();
    EXPECT_NE(answer.thread, std::this_thread::get_id());
    issued.push_back(answer.value);
  }
  EXPECT_EQ(duplicates_in(std::move(issued)), 0U);
}

TEST_P(SnowflakeConformance, WaitsEndWhenTheyAreStopped) {
  Client client = open();
  Snowflake first(client, "small", {.workers = 1});
  first.next();
  Snowflake second(client, "small", {.workers = 1});
  EXPECT_EQ(errc_of([&] { second.next(); }), Errc::exhausted);
  std::stop_source stop;
  std::optional<Errc> ended;
  Answers<std::uint64_t> answers;
  {
    Background waiting(
        [&](const std::stop_token&) { ended = errc_of([&] { second.next_for(1h, stop.get_token()); }); });
    stop.request_stop();
  }
  EXPECT_EQ(ended, Errc::cancelled);
  EXPECT_EQ(errc_of([&] { second.next(stop.get_token()); }), Errc::cancelled);
  second.async_next(into(answers), stop.get_token());
  EXPECT_EQ(conformance::first(answers).code, Errc::cancelled);
}

TEST_P(SnowflakeConformance, ClosingEndsEverything) {
  Client client = open();
  Snowflake holder(client, "small", {.workers = 1});
  holder.next();
  Snowflake ids(client, "small", {.workers = 1});
  EXPECT_EQ(errc_of([&] { ids.next(); }), Errc::exhausted);
  std::optional<Errc> ended;
  {
    Background waiting([&](const std::stop_token&) { ended = errc_of([&] { ids.next_for(1h); }); });
    EXPECT_TRUE(eventually([&] { return ids.metrics().refused >= 2; }));
    ids.close();
  }
  EXPECT_EQ(ended, Errc::closed);
  EXPECT_EQ(errc_of([&] { ids.try_next(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { ids.next(); }), Errc::closed);
  Answers<std::uint64_t> never;
  EXPECT_EQ(errc_of([&] { ids.async_next(into(never)); }), Errc::closed);
  ids.close();
  holder.close();
  EXPECT_EQ(errc_of([&] { holder.try_next(); }), Errc::closed);
}

TEST_P(SnowflakeConformance, MayOutliveItsClient) {
  auto client = std::make_unique<Client>(open());
  Snowflake ids(*client, "orders", short_windows(4));
  ASSERT_TRUE(ids.next_for(test::patience));
  client.reset();
  EXPECT_TRUE(eventually([&] { return errc_of([&] { ids.next(); }) == Errc::closed; }));
}

TEST_P(SnowflakeConformance, SaysWhatItPromises) {
  Client client = open();
  const bool forgets = !client.traits().failover_may_lose.empty();
  Snowflake ids(client, "orders", {.order = Order::thread});
  const ids::Traits traits = ids.traits();
  EXPECT_EQ(traits.kind, "snowflake");
  EXPECT_EQ(traits.order, Order::thread);
  EXPECT_TRUE(traits.carries_time);
  EXPECT_EQ(traits.ends, std::chrono::floor<std::chrono::seconds>(SnowflakeLayout().ends()));
  EXPECT_EQ(traits.unique_by.find("as long as the store keeps") != std::string_view::npos, forgets);
  EXPECT_EQ(errc_of([&] { Snowflake(client, "durable", {.require_durable = true}).next(); }).value_or(Errc{}),
            forgets ? Errc::unsupported : Errc{});
  Snowflake careful(client, "careful", {.survive_loss = true});
  EXPECT_EQ(careful.traits().unique_by.find("as long as the store keeps"), std::string_view::npos);
}

TEST_P(SnowflakeConformance, SaysOnceWhatAStoreThatForgetsMeans) {
  Client client = open();
  Recorder<std::string> log;
  {
    Snowflake ids(client, "orders", {.log = [&log](LogLevel, std::string_view text) { log.add(std::string(text)); }});
    ids.next();
  }
  const bool forgets = !client.traits().failover_may_lose.empty();
  ASSERT_EQ(log.all().size(), forgets ? 1U : 0U);
  if (forgets) {
    EXPECT_THAT(log.all().front(), HasSubstr("as long as the store keeps what it has acknowledged"));
  }
}

TEST_P(SnowflakeConformance, SurvivingLossesCostsAWindowAtTheBeginning) {
  Client client = open();
  // On a busy machine, too, the window is extended in time: once it has ended, the wait begins anew.
  const SnowflakeOptions options = {.workers = 4, .window = 3s, .max_ahead = 1s, .survive_loss = true, .guard = 100ms};
  const auto before = std::chrono::steady_clock::now();
  Snowflake ids(client, "careful", options);
  ASSERT_TRUE(ids.next_for(test::patience));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 3100ms);
  const auto extensions = ids.metrics().extensions;
  EXPECT_TRUE(eventually([&] { return ids.metrics().extensions > extensions; }));
  EXPECT_TRUE(ids.next_for(test::patience));
}

TEST_P(SnowflakeConformance, RefusesOptionsThatMakeNoSense) {
  Client client = open();
  const SnowflakeOptions senseless[] = {// NOLINT(modernize-avoid-c-arrays): a table
                                        {.workers = 1025},     {.order = Order::global}, {.order = Order::none},
                                        {.window = 999ms},     {.window = 1h + 1ms},     {.max_ahead = -1ms},
                                        {.max_ahead = 5001ms}, {.guard = -1ms}};
  for (const SnowflakeOptions& options : senseless) {
    EXPECT_EQ(errc_of([&] { Snowflake ids(client, "orders", options); }), Errc::invalid_argument);
  }
  EXPECT_EQ(errc_of([&] { Snowflake ids(client, std::string(481, 'x')); }), Errc::invalid_argument);
  Snowflake longest(client, std::string(480, 'x'));
  EXPECT_TRUE(longest.next_for(test::patience));
}

TEST_P(NoRegisterConformance, ASnowflakeIsRefused) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { Snowflake ids(client, "orders"); }), Errc::unsupported);
}

// --- with a server of its own ---------------------------------------------------------------------------------------

TEST_P(ServerSnowflakeConformance, AnOutageShorterThanTheWindowIsNotNoticed) {
  Client client = open();
  Snowflake ids(client, "orders", {.window = 20s});
  ids.next();
  Ids issued;
  server().stop();
  for (int i = 0; i < 1000; ++i) issued.push_back(ids.next());
  server().start();
  const auto extensions = ids.metrics().extensions;
  EXPECT_TRUE(eventually([&] { return ids.metrics().extensions > extensions; }));
  for (int i = 0; i < 1000; ++i) issued.push_back(ids.next());
  EXPECT_TRUE(std::ranges::is_sorted(issued));
  EXPECT_EQ(duplicates_in(std::move(issued)), 0U);
}

TEST_P(ServerSnowflakeConformance, AnOutageLongerThanTheWindowIsAnErrorThatPasses) {
  Client client = open();
  Snowflake ids(client, "orders", short_windows(4));
  Ids issued = {ids.next_for(test::patience).value()};
  server().stop();
  std::optional<Errc> outage;
  EXPECT_TRUE(eventually([&] {
    outage = errc_of([&] { issued.push_back(ids.next()); });
    return outage.has_value();
  }));
  EXPECT_EQ(outage, Errc::unreachable);
  EXPECT_FALSE(ids.try_next());
  server().start();
  const auto id = ids.next_for(test::patience);
  ASSERT_TRUE(id);
  issued.push_back(*id);
  EXPECT_TRUE(std::ranges::is_sorted(issued));
  EXPECT_EQ(duplicates_in(std::move(issued)), 0U);
}

}  // namespace
}  // namespace holdfast::conformance
