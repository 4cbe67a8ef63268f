// Unique ids of every kind. Two clients, which could be two processes on two hosts, take them at the same time.

#include <algorithm>
#include <holdfast/client.hpp>
#include <holdfast/ids/auto_increment.hpp>
#include <holdfast/ids/date_counter.hpp>
#include <holdfast/ids/segment.hpp>
#include <holdfast/ids/snowflake.hpp>
#include <holdfast/ids/stepped.hpp>
#include <holdfast/ids/uuid7.hpp>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

int main() {
  namespace ids = holdfast::ids;
  holdfast::Client client("memory:");
  holdfast::Client other("memory:");

  // One counter, one request for each id: they rise among all processes.
  ids::AutoIncrement mine(client, "invoice");
  ids::AutoIncrement theirs(other, "invoice");
  const std::uint64_t first = mine.next();
  std::cout << "invoice " << first << ", then " << theirs.next() << "\n";

  // For people: the date, and a number that begins with 1 each day.
  ids::DateCounter orders(client, "order", {.prefix = "ORD-", .digits = 4});
  std::cout << orders.next() << "\n";

  // Without a store. Version 7 carries the time, and rises.
  ids::Uuid7 uuids;
  const ids::Uuid earlier = uuids.next();
  const ids::Uuid later = uuids.next();
  std::cout << later << (earlier < later ? " rises\n" : " does not rise\n");

  // By the thousand: a worker number with windows of time, segments of a counter, rows in several stores.
  holdfast::Client second_store("memory:another");
  const ids::SteppedStores stores = {client, second_store};
  ids::Stepped::set_up(stores, "ticket");
  std::mutex mutex;
  std::set<std::pair<int, std::uint64_t>> all;
  const auto take = [&](holdfast::Client& its_client) {
    ids::Snowflake snowflake(its_client, "events");
    ids::Segment segment(its_client, "row");
    ids::Stepped stepped(stores, "ticket");
    for (int i = 0; i < 1'000; ++i) {
      const std::uint64_t id[] = {snowflake.next(), segment.next(), stepped.next()};
      const std::scoped_lock lock(mutex);
      for (int kind = 0; kind < 3; ++kind) all.emplace(kind, id[kind]);
    }
  };
  std::thread one([&] { take(client); });
  std::thread two([&] { take(other); });
  one.join();
  two.join();
  std::cout << all.size() << " ids, none twice\n";
  return all.size() == 6'000 && first == 1 ? 0 : 1;
}
