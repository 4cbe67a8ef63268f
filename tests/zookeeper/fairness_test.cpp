// `fair=false`: waiters watch the first claim of a line, not the one just ahead. It changes who is woken, never who is
// next, so both kinds of clients may meet.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/eventually.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;
using test::Background;
using test::eventually;

class ZookeeperFairness : public testing::Test {
 protected:
  std::string fair() const { return server().url() + "?prefix=" + prefix_; }
  std::string unfair() const { return fair() + "&fair=false"; }
  static bool waits(const Client& client, std::size_t count) {
    return eventually([&] {
      const auto status = client.show("name");
      return status && status->waiters.size() == count;
    });
  }

  /// No renewal comes in time to help: whoever is granted has heard of it.
  const LockOptions options_ = {.ttl = 600s};

 private:
  const std::string prefix_ = new_prefix();
};

TEST_F(ZookeeperFairness, BothKindsOfClientsExcludeEachOther) {
  constexpr int rounds = 50;
  int count = 0;  // guarded by the lock under test
  {
    std::vector<std::jthread> threads;
    for (const std::string& url : {fair(), unfair(), fair(), unfair()}) {
      threads.emplace_back([&count, url] {
        Client client(url);
        Mutex mutex(client, "name");
        for (int round = 0; round < rounds; ++round) {
          const std::scoped_lock lock(mutex);
          ++count;
        }
      });
    }
  }
  EXPECT_EQ(count, 4 * rounds);
}

TEST_F(ZookeeperFairness, WhoComesFirstIsServedFirst) {
  Client holder(unfair());
  Client first(unfair());
  Client second(unfair());
  Hold hold = Mutex(holder, "name", options_).acquire();
  Background one([&](std::stop_token stop) { return Mutex(first, "name", options_).acquire(stop); });
  ASSERT_TRUE(waits(holder, 1));
  Background two([&](std::stop_token stop) { return Mutex(second, "name", options_).acquire(stop); });
  ASSERT_TRUE(waits(holder, 2));
  hold = {};
  Hold next = one.take();
  EXPECT_FALSE(two.finished());
  next = {};
  EXPECT_TRUE(two.take().valid());
}

TEST_F(ZookeeperFairness, AReaderHearsThatTheWriterAheadHasGivenUp) {
  Client holder(unfair());
  Client writer(unfair());
  Client reader(unfair());
  const Hold shared = SharedMutex(holder, "name", options_).acquire_shared();
  Background writing([&](std::stop_token stop) { return SharedMutex(writer, "name", options_).acquire(stop); });
  ASSERT_TRUE(waits(holder, 1));
  Background reading([&](std::stop_token stop) { return SharedMutex(reader, "name", options_).acquire_shared(stop); });
  ASSERT_TRUE(waits(holder, 2));
  writing.cancel();
  EXPECT_TRUE(reading.take().valid());
  EXPECT_TRUE(shared.valid());
}

TEST_F(ZookeeperFairness, AWriterWaitsForTheLastOfSeveralReaders) {
  Client first(unfair());
  Client second(unfair());
  Client writer(unfair());
  Hold one = SharedMutex(first, "name", options_).acquire_shared();
  Hold two = SharedMutex(second, "name", options_).acquire_shared();
  Background writing([&](std::stop_token stop) { return SharedMutex(writer, "name", options_).acquire(stop); });
  ASSERT_TRUE(waits(first, 1));
  two = {};
  ASSERT_TRUE(eventually([&] { return first.show("name")->holders.size() == 1; }));
  EXPECT_FALSE(writing.finished());
  one = {};
  EXPECT_TRUE(writing.take().valid());
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
