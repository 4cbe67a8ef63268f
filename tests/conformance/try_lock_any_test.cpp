// The first of several locks that is free.

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using test::ChildReport;
using test::errc_of;
using test::ForkedChild;

std::vector<LockName> tasks(int count) {
  std::vector<LockName> names;
  for (int number = 1; number <= count; ++number) names.emplace_back("task/" + std::to_string(number));
  return names;
}

TEST_P(MultiLockConformance, TheFirstFreeOneIsPickedInTheOrderGiven) {
  Client client = open();
  Client other = open();
  auto second = try_lock_any(client, {"task/2", "task/1"});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->name(), LockName("task/2"));
  const auto first = try_lock_any(other, {"task/2", "task/1"});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name(), LockName("task/1"));
  second->release();
  const auto again = try_lock_any(other, tasks(3));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->name(), LockName("task/2"));
}

TEST_P(MultiLockConformance, NoneIsPickedIfAllAreBusy) {
  Client client = open();
  Client other = open();
  const MultiHold hold = MultiLock(other, tasks(3)).acquire();
  EXPECT_FALSE(try_lock_any(client, tasks(3)));
  EXPECT_FALSE(try_lock_any(client, {}));
  EXPECT_EQ(client.health().waiting, 0u);
  EXPECT_EQ(client.health().holds, 0u);
}

TEST_P(MultiLockConformance, EveryWorkerPicksATaskOfItsOwn) {
  Client first = open();
  Client second = open();
  std::mutex guard;
  std::vector<Hold> picked;
  {
    std::vector<std::jthread> workers;
    for (int number = 0; number < 8; ++number) {
      workers.emplace_back([&, number] {
        auto task = try_lock_any(number % 2 == 0 ? first : second, tasks(8));
        const std::scoped_lock lock(guard);
        if (task) picked.push_back(*std::move(task));
      });
    }
  }
  std::set<std::string> names;
  for (const Hold& hold : picked) names.insert(hold.name().text());
  EXPECT_EQ(names.size(), 8u) << "one for each worker, none twice";
  EXPECT_FALSE(try_lock_any(first, tasks(8)));
}

TEST_P(SharedStoreConformance, EveryProcessPicksATaskOfItsOwn) {
  std::vector<ForkedChild> workers;
  for (int number = 0; number < 4; ++number) {
    workers.emplace_back([&](ChildReport& report) {
      Client client(url());
      const auto task = try_lock_any(client, tasks(4));
      report.expect(task.has_value(), "there is a task for each");
      Latch picked(client, "picked", 4);
      picked.count_down();
      report.expect(picked.wait_for(test::patience), "all have picked one");
      report.expect(task && task->valid(), "and have it still");
    });
  }
  for (ForkedChild& worker : workers) EXPECT_TRUE(worker.succeeds());
}

TEST_P(MultiLockConformance, PickingPassesErrorsOn) {
  Client client = open();
  EXPECT_EQ(errc_of([&] { static_cast<void>(try_lock_any(client, tasks(2), {.ttl = 1ms})); }), Errc::invalid_argument);
  client.close();
  EXPECT_EQ(errc_of([&] { static_cast<void>(try_lock_any(client, tasks(2))); }), Errc::closed);
}

}  // namespace
}  // namespace holdfast::conformance
