// A forked child has copies of everything and owns nothing.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "conformance/fixture.hpp"
#include "conformance/waiting_calls.hpp"
#include "support/forked_child.hpp"

namespace holdfast::conformance {
namespace {

using test::ChildReport;
using test::errc_of;
using test::succeeds_in_forked_child;

TEST_P(ClientConformance, InAForkedChildEveryCallSaysSo) {
  Client client = open();
  Mutex mutex(client, "mine");
  RecursiveMutex recursive(client, "other");
  mutex.lock();
  EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) {
    for (const auto& [name, call] : waiting_calls) {
      report.expect(errc_of([&] { call(mutex, {}); }) == Errc::forked, name);
    }
    report.expect(errc_of([&] { mutex.try_lock(); }) == Errc::forked, "try_lock");
    report.expect(errc_of([&] { static_cast<void>(mutex.try_acquire()); }) == Errc::forked, "try_acquire");
    report.expect(errc_of([&] { recursive.lock(); }) == Errc::forked, "recursive lock");
    report.expect(errc_of([&] { recursive.try_lock(); }) == Errc::forked, "recursive try_lock");
    report.expect(errc_of([&] { static_cast<void>(client.list()); }) == Errc::forked, "list");
    report.expect(errc_of([&] { static_cast<void>(client.show("mine")); }) == Errc::forked, "show");
    report.expect(errc_of([&] { client.evict("mine"); }) == Errc::forked, "evict");
    mutex.unlock();
    recursive.unlock();
    client.close();
  }));
  EXPECT_TRUE(mutex.hold().valid());
  mutex.unlock();
}

TEST_P(HoldConformance, IsNotValidInAForkedChild) {
  Client client = open();
  Hold hold = Mutex(client, "mine").acquire();
  const std::stop_token stop = hold.stop_token();
  EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) {
    report.expect(!hold.valid(), "valid");
    report.expect(hold.name() == LockName("mine"), "name");
    const auto outcome = errc_of([&] { hold.release(); });
    report.expect(!outcome || outcome == Errc::forked, "release");
    const auto extended = errc_of([&] { hold.extend(1h); });
    report.expect(extended.has_value(), "extend");
  }));
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_FALSE(stop.stop_requested());
}

// What the child destroys, the parent keeps.
TEST_P(ClientConformance, AForkedChildsDestructorsGiveNothingBack) {
  Client other = open();
  auto client = std::make_unique<Client>(url());
  auto mutex = std::make_unique<Mutex>(*client, "locked");
  auto hold = std::make_unique<Hold>(Mutex(*client, "held", {.ttl = steady_ttl()}).acquire());
  mutex->lock();
  EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport&) {
    hold.reset();
    mutex->unlock();
    mutex.reset();
    client.reset();
  }));
  EXPECT_TRUE(hold->valid());
  EXPECT_TRUE(mutex->hold().valid());
  EXPECT_EQ(other.show("held").value().holders.at(0).client.id, client->identity().id);
  EXPECT_FALSE(Mutex(other, "locked").try_acquire());
  const auto renewals = client->health().renewals;
  EXPECT_TRUE(test::eventually([&] { return client->health().renewals >= renewals + 2; }));
  EXPECT_TRUE(hold->valid());
  mutex->unlock();
  hold.reset();
  EXPECT_TRUE(becomes_free(other, "held"));
  EXPECT_TRUE(becomes_free(other, "locked"));
}

TEST_P(ClientConformance, AForkedChildOpensAClientOfItsOwn) {
  Client client = open();
  const Hold hold = Mutex(client, "mine").acquire();
  EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) {
    // A store whose library does not survive a fork says so at once.
    if (errc_of([&] { Client tried(url()); }) == Errc::unsupported) return;
    Client own(url());
    report.expect(own.identity().id != client.identity().id, "the child is somebody else");
    report.expect(own.identity().pid == getpid(), "the child has its own pid");
    Mutex mutex(own, "other");
    mutex.lock();
    report.expect(mutex.hold().valid(), "the child can take locks");
    mutex.unlock();
    report.expect(Mutex(own, "third").try_acquire().has_value(), "the child can try locks");
    own.close();
  }));
  EXPECT_TRUE(hold.valid());
}

// Threads that are in the middle of something are not in the child; what they held must not block it.
TEST_P(ClientConformance, ForkingWhileThreadsTakeLocksHangsNobody) {
  Client client = open();
  std::atomic<bool> enough = false;
  std::atomic<int> turns = 0;
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&] {
      Mutex mutex(client, "contended");
      while (!enough) {
        const std::scoped_lock lock(mutex);
        static_cast<void>(client.health());
        ++turns;
      }
    });
  }
  // AddressSanitizer remembers every way on which memory is asked for, with a lock that a child may inherit: let it see
  // them all before.
  EXPECT_TRUE(test::eventually([&] { return turns > 1000; }));
  for (int round = 0; round < 20; ++round) {
    EXPECT_TRUE(succeeds_in_forked_child([&](ChildReport& report) {
      report.expect(errc_of([&] { Mutex(client, "contended").lock(); }) == Errc::forked, "lock");
      client.close();
    })) << "round "
        << round;
  }
  enough = true;
  threads.clear();
  EXPECT_TRUE(Mutex(client, "contended").try_acquire());
}

}  // namespace
}  // namespace holdfast::conformance
