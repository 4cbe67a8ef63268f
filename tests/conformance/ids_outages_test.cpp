// What counters make of a server that goes away or stands still. For fixtures with a server.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "conformance/fixture.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/date_counter.hpp"
#include "holdfast/ids/segment.hpp"
#include "holdfast/ids/stepped.hpp"

namespace holdfast::conformance {
namespace {

using ids::AutoIncrement;
using ids::DateCounter;
using ids::Segment;
using ids::Stepped;
using test::Background;
using test::errc_of;
using test::eventually;

// ID11
TEST_P(ServerConformance, ASegmentGoesOnThroughAnOutageForAsLongAsItHasIds) {
  Client client = open();
  Segment orders(client, "order", {.min_step = 100, .max_step = 100});
  std::set<std::uint64_t> issued = {test::answered([&] { return orders.next(); })};
  ASSERT_TRUE(eventually([&] { return orders.metrics().at_hand == 199; }));
  server().stop();
  for (int call = 0; call < 199; ++call) ASSERT_TRUE(issued.insert(orders.next()).second);
  EXPECT_FALSE(orders.try_next());
  EXPECT_EQ(errc_of([&] { orders.next(); }), Errc::unreachable) << "whether or not the request was sent";
  EXPECT_FALSE(orders.next_for(100ms));
  EXPECT_EQ(orders.metrics().at_hand, 0u);
  EXPECT_GT(orders.metrics().counter.refused, 0u);
  Background waiter([&](std::stop_token stop) { return orders.next_for(test::patience, stop); });
  server().start();
  const std::optional<std::uint64_t> id = waiter.take();
  ASSERT_TRUE(id);
  EXPECT_TRUE(issued.insert(*id).second);
}

TEST_P(ServerConformance, ASegmentThatWaitsIsStopped) {
  Client client = open();
  Segment orders(client, "order");
  server().stop();
  Background waiter([&](std::stop_token stop) { return orders.next_for(1h, stop); });
  EXPECT_FALSE(waiter.finishes(100ms));
  waiter.cancel();
  EXPECT_EQ(waiter.error(), Errc::cancelled);
}

TEST_P(ServerConformance, NumbersInDoubtAreLeftOut) {
  Client client = open();
  AutoIncrement invoice(client, "invoice");
  DateCounter date(client, "date");
  std::set<std::string> issued;
  const auto take = [&] {
    EXPECT_TRUE(issued.insert(std::to_string(test::answered([&] { return invoice.next(); }))).second);
    EXPECT_TRUE(issued.insert(test::answered([&] { return date.next(); })).second);
  };
  take();
  server().pause();
  EXPECT_EQ(errc_of([&] { invoice.next(); }), Errc::unreachable) << "nobody has to find out what became of a number";
  EXPECT_EQ(errc_of([&] { date.next(); }), Errc::unreachable);
  EXPECT_FALSE(invoice.next_for(200ms));
  server().resume();
  for (int call = 0; call < 5; ++call) take();
  EXPECT_GT(invoice.metrics().refused, 0u);
}

TEST_P(ServerConformance, SteppedGoesOnWithTheStoresThatAnswer) {
  Client far = open({.connect_timeout = 500ms});
  Client near("memory:near-" + test::new_prefix());
  ASSERT_TRUE(eventually([&] { return !errc_of([&] { Stepped::set_up({far, near}, "ticket"); }); }));
  Stepped tickets({far, near}, "ticket", {.batch = 1, .witness = ids::SteppedOptions::Witness::never});
  std::set<std::uint64_t> issued;
  const auto take = [&](int count) {
    for (int call = 0; call < count; ++call)
      EXPECT_TRUE(issued.insert(test::answered([&] { return tickets.next(); })).second);
  };
  take(6);
  server().stop();
  take(6);
  EXPECT_GT(tickets.metrics().failovers, 0u);
  server().start();
  EXPECT_TRUE(eventually([&] {
    take(1);
    return tickets.metrics().skew <= 1;
  })) << "the store that was away catches up";
}

}  // namespace
}  // namespace holdfast::conformance
