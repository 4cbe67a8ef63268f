// Ids that are unique by a counter in the store.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/date_counter.hpp"
#include "holdfast/ids/segment.hpp"
#include "holdfast/ids/stepped.hpp"
#include "support/forked_child.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::conformance {
namespace {

using ids::AutoIncrement;
using ids::DateCounter;
using ids::Segment;
using ids::Stepped;
using test::Background;
using test::ChildReport;
using test::errc_of;
using test::eventually;
using test::ForkedChild;
using test::Recorder;

/// A busy machine may be late; whatever was taken meanwhile is left out.
template <class Generator>
auto next_of(Generator& generator) {
  return test::answered([&] { return generator.next(); });
}

template <class T>
std::size_t different(std::vector<T> all) {
  return std::set<T>(all.begin(), all.end()).size();
}

// ID02
TEST_P(RegisterConformance, AutoIncrementRisesWhoeverTakesANumber) {
  Client client = open();
  Client other = open();
  AutoIncrement mine(client, "invoice");
  AutoIncrement theirs(other, "invoice");
  std::uint64_t last = 0;
  for (int round = 0; round < rounds(100); ++round) {
    const std::uint64_t id = next_of(round % 2 == 0 ? mine : theirs);
    EXPECT_GT(id, last);
    last = id;
  }
  const ids::IdRange range = test::answered([&] { return mine.reserve(5); });
  EXPECT_GT(range.front(), last);
  EXPECT_EQ(range.size(), 5u);
  EXPECT_GT(next_of(theirs), range.back());
  EXPECT_EQ(mine.name(), LockName("invoice"));
  EXPECT_EQ(mine.traits().order, ids::Order::global);
}

// ID01
TEST_P(RegisterConformance, CountersGiveEachIdOnceToAllThreadsAndClients) {
  Client clients[] = {open(), open()};
  Stepped::set_up({clients[0]}, "ticket");
  Recorder<std::uint64_t> numbers;
  Recorder<std::uint64_t> orders;
  Recorder<std::uint64_t> tickets;
  Recorder<std::string> dates;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 6; ++number) {
      threads.emplace_back([&, number] {
        Client& client = clients[number % 2];
        AutoIncrement invoice(client, "invoice");
        Segment order(client, "order", {.min_step = 7, .max_step = 7});
        DateCounter date(client, "date");
        Stepped ticket({client}, "ticket", {.batch = 3});
        for (int round = 0; round < rounds(30); ++round) {
          numbers.add(next_of(invoice));
          orders.add(next_of(order));
          dates.add(next_of(date));
          tickets.add(next_of(ticket));
        }
      });
    }
  }
  const auto all = static_cast<std::size_t>(6 * rounds(30));
  EXPECT_EQ(different(numbers.all()), all);
  EXPECT_EQ(different(orders.all()), all);
  EXPECT_EQ(different(dates.all()), all);
  EXPECT_EQ(different(tickets.all()), all);
}

// ID02
TEST_P(RegisterConformance, ASegmentRisesAmongTheThreadsOfAProcess) {
  Client client = open();
  Segment orders(client, "order", {.min_step = 50, .max_step = 50});
  std::uint64_t last = 0;
  for (int call = 0; call < 300; ++call) {
    std::uint64_t id = 0;
    std::jthread([&] { id = next_of(orders); }).join();
    ASSERT_GT(id, last);
    last = id;
  }
}

TEST_P(RegisterConformance, ASegmentAndACounterOfItsNameShareTheNumbers) {
  Client client = open();
  Segment orders(client, "order", {.min_step = 5, .max_step = 5});
  AutoIncrement other(client, "order");
  std::vector<std::uint64_t> all;
  for (int round = 0; round < 20; ++round) {
    all.push_back(next_of(orders));
    all.push_back(next_of(other));
  }
  EXPECT_EQ(different(all), 40u);
}

TEST_P(RegisterConformance, ALocalSegmentOfEachThreadRises) {
  Client client = open();
  Segment orders(client, "order", {.min_step = 10'000, .max_step = 10'000});
  Recorder<std::uint64_t> all;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        Segment::Local ids(orders);
        std::uint64_t last = 0;
        for (int call = 0; call < 5'000; ++call) {
          const std::uint64_t id = next_of(ids);
          EXPECT_GT(id, last);
          last = id;
          if (call % 50 == 0) all.add(id);
        }
      });
    }
  }
  EXPECT_EQ(different(all.all()), 400u);
  EXPECT_GE(orders.metrics().counter.issued, 20'000u);
}

// ID11
TEST_P(RegisterConformance, ASegmentNeedsAFewRequestsForThousandsOfIds) {
  Client client = open();
  Segment orders(client, "order", {.min_step = 5'000, .max_step = 5'000});
  for (int call = 0; call < 9'999; ++call) static_cast<void>(next_of(orders));
  EXPECT_LE(orders.metrics().refills, 3u);
  EXPECT_TRUE(eventually([&] { return orders.metrics().at_hand > 5'000; })) << "the next segment is fetched by itself";
}

// ID12
TEST_P(RegisterConformance, CountersEndWithTheirLastId) {
  Client client = open();
  AutoIncrement invoice(client, "invoice", {.last = 3});
  Segment order(client, "order", {.counter = {.last = 3}});
  Stepped::set_up({client}, "ticket");
  Stepped ticket({client}, "ticket", {.counter = {.last = 3}, .batch = 2});
  for (std::uint64_t id = 1; id <= 3; ++id) {
    EXPECT_EQ(next_of(invoice), id);
    EXPECT_EQ(next_of(order), id);
    EXPECT_EQ(next_of(ticket), id);
  }
  for (int call = 0; call < 2; ++call) {
    EXPECT_EQ(errc_of([&] { invoice.next(); }), Errc::end_of_life);
    EXPECT_EQ(errc_of([&] { static_cast<void>(invoice.next_for(1h)); }), Errc::end_of_life) << "at once";
    EXPECT_EQ(errc_of([&] { order.next(); }), Errc::end_of_life);
    EXPECT_EQ(errc_of([&] { static_cast<void>(order.next_for(1h)); }), Errc::end_of_life);
    EXPECT_EQ(errc_of([&] { ticket.next(); }), Errc::end_of_life);
  }
  EXPECT_FALSE(order.try_next());
}

// ID12
TEST_P(RegisterConformance, ACounterAtTheEndOf64BitsNeverWraps) {
  Client client = open();
  Register(client, "id-counter/invoice").set("9223372036854775800");
  AutoIncrement invoice(client, "invoice");
  EXPECT_EQ(errc_of([&] { invoice.reserve(100); }), Errc::end_of_life);
  Segment order(client, "invoice");
  for (std::uint64_t id = 9'223'372'036'854'775'801U; id <= 9'223'372'036'854'775'806U; ++id) {
    EXPECT_EQ(next_of(order), id);
  }
  EXPECT_EQ(errc_of([&] { order.next(); }), Errc::end_of_life);
  EXPECT_EQ(errc_of([&] { invoice.next(); }), Errc::end_of_life);
}

TEST_P(RegisterConformance, WhatIsNoCounterIsLeftAlone) {
  Client client = open();
  for (const char* kind : {"id-counter/", "id-date/", "id-stepped/"})
    Register(client, kind + std::string("x")).set("?");
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, "x").next(); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { Segment(client, "x").next(); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x").next(); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { Stepped({client}, "x").next(); }), Errc::store_failed);
  EXPECT_EQ(errc_of([&] { Stepped::set_up({client}, "x"); }), Errc::store_failed);
}

TEST_P(RegisterConformance, CountersRefuseArgumentsThatMakeNoSense) {
  Client client = open();
  AutoIncrement invoice(client, "invoice");
  EXPECT_EQ(errc_of([&] { invoice.reserve(0); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, "x", {.last = 0}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, "x", {.last = ~std::uint64_t{0}}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Segment(client, "x", {.min_step = 0}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Segment(client, "x", {.min_step = 10, .max_step = 5}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Segment(client, "x", {.outage_budget = -1ms}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Segment(client, "x").try_reserve(0); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x", {.digits = 3}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x", {.digits = 10}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x", {.utc_offset = 25h}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x", {.digits = 4}).reserve(1'001); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { Stepped({client}, "x", {.batch = 0}); }), Errc::invalid_argument);
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, std::string(510, 'x')); }), Errc::invalid_argument)
      << "with its prefix";
}

TEST_P(RegisterConformance, DatesCountAndSort) {
  Client client = open();
  Client other = open();
  DateCounter mine(client, "order", {.prefix = "ORD-", .digits = 6});
  DateCounter theirs(other, "order", {.prefix = "ORD-", .digits = 6});
  std::string last;
  for (int round = 0; round < rounds(50); ++round) {
    const std::string id = next_of(round % 2 == 0 ? mine : theirs);
    EXPECT_GT(id, last);
    EXPECT_EQ(id.size(), 4u + 8 + 6);
    last = id;
  }
  const auto parts = mine.parse(last);
  ASSERT_TRUE(parts);
  EXPECT_LE(std::chrono::abs(std::chrono::sys_days(parts->day) -
                             std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())),
            std::chrono::days(1));
  const auto batch = test::answered([&] { return mine.reserve(3); });
  EXPECT_EQ(mine.parse(batch[2])->number, mine.parse(batch[0])->number + 2);
  EXPECT_TRUE(std::ranges::is_sorted(batch));
  EXPECT_EQ(errc_of([&] { DateCounter(client, "order", {.digits = 8}).next(); }), Errc::store_failed)
      << "all need the same number of digits";
  EXPECT_GT(next_of(mine), batch[2]) << "and that did no harm";
}

TEST_P(RegisterConformance, IdsAreTakenAsynchronously) {
  Client client = open();
  Stepped::set_up({client}, "ticket");
  AutoIncrement invoice(client, "invoice");
  Segment order(client, "order");
  DateCounter date(client, "date");
  Stepped ticket({client}, "ticket");
  Recorder<std::string> answers;
  const auto told = [&](std::error_code error, std::uint64_t id) {
    answers.add(error ? error.message() : std::to_string(id));
  };
  for (int call = 0; call < 3; ++call) {
    invoice.async_next(told);
    order.async_next(told);
    ticket.async_next(told);
    date.async_next([&](std::error_code error, std::string) { answers.add(error ? error.message() : "date"); });
  }
  ASSERT_TRUE(answers.reaches(12));
  std::vector<std::string> all = answers.all();
  EXPECT_EQ(std::ranges::count(all, "date"), 3);
  EXPECT_EQ(std::ranges::count(all, "1"), 3);
  std::stop_source stop;
  stop.request_stop();
  invoice.async_next(told, stop.get_token());
  order.async_next(told, stop.get_token());
  ASSERT_TRUE(answers.reaches(14));
  EXPECT_EQ(std::ranges::count(answers.all(), make_error_code(Errc::cancelled).message()), 2);
}

TEST_P(RegisterConformance, AStopEndsTakingAnId) {
  Client client = open();
  std::stop_source stop;
  EXPECT_GT(AutoIncrement(client, "invoice").next(stop.get_token()), 0u);
  stop.request_stop();
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, "invoice").next(stop.get_token()); }), Errc::cancelled);
  EXPECT_EQ(errc_of([&] { Segment(client, "order").next(stop.get_token()); }), Errc::cancelled);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "date").next(stop.get_token()); }), Errc::cancelled);
}

TEST_P(RegisterConformance, AfterClosingOnlyWhatIsAtHandIsIssued) {
  Client client = open();
  AutoIncrement invoice(client, "invoice");
  DateCounter date(client, "date");
  Segment order(client, "order", {.min_step = 2, .max_step = 2});
  Stepped::set_up({client}, "ticket");
  Stepped ticket({client}, "ticket", {.batch = 2});
  static_cast<void>(next_of(order));
  static_cast<void>(next_of(ticket));
  ASSERT_TRUE(eventually([&] { return order.metrics().at_hand >= 3; }));
  client.close();
  for (int call = 0; call < 3; ++call) EXPECT_TRUE(order.try_next());
  EXPECT_EQ(errc_of([&] { order.next(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { static_cast<void>(order.next_for(1h)); }), Errc::closed);
  EXPECT_TRUE(ticket.try_next());
  EXPECT_EQ(errc_of([&] { ticket.next(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { invoice.next(); }), Errc::closed);
  EXPECT_EQ(errc_of([&] { date.next(); }), Errc::closed);
}

// ID13
TEST_P(RegisterConformance, AForkedChildGetsNoIdOfItsParent) {
  Client client = open();
  AutoIncrement invoice(client, "invoice");
  DateCounter date(client, "date");
  auto order = std::make_unique<Segment>(client, "order");
  Segment::Local local(*order);
  Stepped::set_up({client}, "ticket");
  auto ticket = std::make_unique<Stepped>(ids::SteppedStores{client}, "ticket");
  const std::uint64_t last = next_of(*order);
  static_cast<void>(next_of(local));
  static_cast<void>(next_of(*ticket));
  EXPECT_TRUE(test::succeeds_in_forked_child([&](ChildReport& report) {
    report.expect(!order->try_next(), "it issues from the segment");
    report.expect(!order->try_reserve(2), "it reserves from the segment");
    report.expect(!local.try_next(), "it issues from the chunk");
    report.expect(!ticket->try_next(), "it issues from the batch");
    report.expect(errc_of([&] { order->next(); }) == Errc::forked, "segment");
    report.expect(errc_of([&] { static_cast<void>(order->next_for(1h)); }) == Errc::forked, "segment, for a while");
    report.expect(errc_of([&] { local.next(); }) == Errc::forked, "local");
    report.expect(errc_of([&] { ticket->next(); }) == Errc::forked, "stepped");
    report.expect(errc_of([&] { invoice.next(); }) == Errc::forked, "auto");
    report.expect(errc_of([&] { date.next(); }) == Errc::forked, "date");
    order.reset();
    ticket.reset();
  }));
  EXPECT_GT(next_of(*order), last);
}

TEST_P(RegisterConformance, CountersSayWhetherTheirStoreMayForget) {
  Client client = open();
  const bool may_forget = !client.traits().failover_may_lose.empty();
  const auto refused = may_forget ? std::optional(Errc::unsupported) : std::nullopt;
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, "x", {.require_durable = true}); }), refused);
  EXPECT_EQ(errc_of([&] { Segment(client, "x", {.counter = {.require_durable = true}}); }), refused);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x", {.require_durable = true}); }), refused);
  EXPECT_EQ(errc_of([&] { Stepped({client}, "x", {.counter = {.require_durable = true}}); }), refused);
}

// What a store forgets is not issued again by whoever remembers it.
TEST_P(RegisterConformance, ACounterThatWentBackIsMended) {
  Client client = open();
  AutoIncrement invoice(client, "invoice", {.gap_after_loss = 1'000});
  Segment order(client, "order", {.min_step = 10, .max_step = 10});
  DateCounter date(client, "date", {.digits = 6});
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint64_t> orders;
  std::vector<std::string> dates;
  const auto take = [&](int count) {
    for (int call = 0; call < count; ++call) {
      numbers.push_back(next_of(invoice));
      orders.push_back(next_of(order));
      dates.push_back(next_of(date));
    }
  };
  take(25);
  ASSERT_TRUE(eventually([&] { return order.metrics().at_hand > 10; })) << "no refill is under way";
  for (const char* name : {"id-counter/invoice", "id-counter/order"}) Register(client, name).set("3");
  Register(client, "id-date/date").set(Register(client, "id-date/date").get().value.substr(0, 8) + "0000003");
  take(60);
  EXPECT_EQ(different(numbers), 85u);
  EXPECT_EQ(different(orders), 85u);
  EXPECT_EQ(different(dates), 85u);
  EXPECT_EQ(invoice.metrics().went_back, 1u);
  EXPECT_EQ(order.metrics().counter.went_back, 1u);
  EXPECT_EQ(date.metrics().went_back, 1u);
  EXPECT_GT(numbers.back(), 1'025u);
}

TEST_P(NoRegisterConformance, HasNoCounters) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { AutoIncrement(client, "x"); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Segment(client, "x"); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { DateCounter(client, "x"); }), Errc::unsupported);
  EXPECT_EQ(errc_of([&] { Stepped({client}, "x"); }), Errc::unsupported);
}

/// What children have written, each into a file of its own.
std::vector<std::string> lines_of(const std::filesystem::path& directory) {
  std::vector<std::string> lines;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream in(file.path());
    for (std::string line; std::getline(in, line);) lines.push_back(line);
  }
  return lines;
}

// ID01, ID11: processes that are killed at any moment, and begin again.
TEST_P(SharedStoreConformance, KilledProcessesLeaveIdsOutAndRepeatNone) {
  const test::TemporaryDirectory directory;
  const auto work = [&](const std::string& name, int most) {
    Client client = open();
    std::ofstream out(directory.path() / name);
    AutoIncrement invoice(client, "invoice");
    Segment order(client, "order", {.min_step = 5, .max_step = 100});
    DateCounter date(client, "date");
    for (int call = 0; call < most; ++call) {
      out << "order " << next_of(order) << std::endl;
      out << "invoice " << next_of(invoice) << std::endl;
      out << "date " << next_of(date) << std::endl;
    }
  };
  for (int round = 0; round < 2; ++round) {
    std::vector<ForkedChild> children;
    for (int child = 0; child < 3; ++child) {
      const std::string name = std::to_string(round) + "-" + std::to_string(child);
      children.emplace_back([&, name](ChildReport&) { work(name, 100'000); });
    }
    const std::size_t before = lines_of(directory.path()).size();
    EXPECT_TRUE(
        eventually([&] { return lines_of(directory.path()).size() > before + static_cast<std::size_t>(rounds(100)); }));
    for (ForkedChild& child : children) child.kill();
  }
  ForkedChild last([&](ChildReport&) { work("last", rounds(50)); });
  EXPECT_TRUE(last.succeeds());
  std::vector<std::string> lines = lines_of(directory.path());
  const std::size_t all = lines.size();
  EXPECT_EQ(different(std::move(lines)), all);
  EXPECT_GT(all, static_cast<std::size_t>(2 * rounds(100)));
}

}  // namespace
}  // namespace holdfast::conformance
