// Many clients at once. HOLDFAST_SCALE says how many times as many as a quick run has; 10 are the full size.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"
#include "support/sanitizers.hpp"
#include "zookeeper/hand.hpp"
#include "zookeeper/server.hpp"

namespace holdfast::zookeeper_suite {
namespace {

using namespace std::chrono_literals;
using test::eventually;

constexpr auto long_patience = 180s;

constexpr bool instrumented = test::address_sanitized;

bool is_full_size() {
  const char* const text = std::getenv("HOLDFAST_SCALE");
  return text != nullptr && std::stoul(text) >= 10;
}

void allow_many_descriptors() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// How many events the server has told its clients.
struct Told {
  long long deleted = server().monitored("zk_sum_node_deleted_watch_count");
  long long children = server().monitored("zk_sum_node_children_watch_count");
  long long changed = server().monitored("zk_sum_node_changed_watch_count");
};

/// Clients, each with a session of its own, of which the first holds a lock and all others wait for it.
class ZookeeperCrowd : public testing::Test {
 protected:
  ~ZookeeperCrowd() override {
    while (!clients_.empty()) clients_.pop_back();  // the last first: nobody is woken by it
  }

  const std::size_t size_ = instrumented ? 100 : is_full_size() ? 1000 : 200;

  void gather(const std::string& options) {
    allow_many_descriptors();
    url_ = server().url() + "?prefix=" + prefix_ + options;
    add(0);
    ASSERT_TRUE(eventually([&] { return granted_.size() == 1; }));
    for (std::size_t i = 1; i <= size_; ++i) add(i);
    ASSERT_TRUE(eventually(long_patience, [&] { return line().size() == size_ + 1; }));
    // Each is watched by the one behind it and by itself, and each watch is placed by a request of its own.
    ASSERT_TRUE(eventually(
        long_patience, [&] { return server().monitored("zk_watch_count") >= static_cast<long long>(2 * size_ + 1); }));
  }

  /// The holder lets go, and the next one is granted.
  void hand_over() {
    const std::size_t before = granted_.size();
    holds_.take();
    ASSERT_TRUE(eventually(long_patience,
                           [&] { return granted_.size() == before + 1 && line().size() == size_ + 1 - before; }));
  }

  std::vector<std::string> line() { return hand_.children("/" + prefix_ + "/name"); }

  test::Recorder<std::size_t> granted_;

 private:
  void add(std::size_t number) {
    Client& client = *clients_.emplace_back(std::make_unique<Client>(url_));
    // A watch that a busy server did not take in time is placed again by the next renewal.
    Mutex(client, "name", {.ttl = 90s}).async_acquire([this, number](std::error_code error, Hold hold) {
      if (error || !hold.valid()) return;
      holds_.add(std::move(hold));
      granted_.add(number);
    });
  }

  const std::string prefix_ = new_prefix();
  std::string url_;
  Hand hand_{server().port()};
  test::Recorder<Hold> holds_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(ZookeeperCrowd, AReleaseWakesOneClientHoweverManyWait) {
  gather("");
  constexpr long long rounds = 20;
  const Told before;
  ASSERT_GE(before.deleted, 0);
  for (long long round = 0; round < rounds; ++round) hand_over();
  const Told after;
  const auto told = after.deleted - before.deleted;
  // The next one; and the one that let go watched its own node, so that it would have heard of an operator's removal.
  EXPECT_GE(told, rounds) << "the control: there were watches";
  EXPECT_LE(told, 2 * rounds);
  EXPECT_EQ(after.children - before.children, 0) << "nobody watches the whole line";
  EXPECT_EQ(after.changed - before.changed, 0);
  std::printf("%zu clients wait: %lld events for %lld releases\n", size_, told, rounds);
}

TEST_F(ZookeeperCrowd, AllAreServed) {
  gather("");
  for (std::size_t i = 0; i < size_; ++i) hand_over();
  const std::vector<std::size_t> all = granted_.all();
  EXPECT_EQ(std::set<std::size_t>(all.begin(), all.end()).size(), size_ + 1);
}

TEST_F(ZookeeperCrowd, WithoutFairnessAReleaseWakesEverybody) {
  gather("&fair=false");
  const Told before;
  hand_over();
  EXPECT_GE(Told().deleted - before.deleted, static_cast<long long>(size_)) << "all of them watched the first one";
  EXPECT_EQ(granted_.size(), 2U);
  // And again: all of them watch the one that is the first now.
  ASSERT_TRUE(eventually(
      long_patience, [&] { return server().monitored("zk_watch_count") >= static_cast<long long>(2 * size_ - 1); }));
  const Told between;
  hand_over();
  EXPECT_GE(Told().deleted - between.deleted, static_cast<long long>(size_) - 1);
}

}  // namespace
}  // namespace holdfast::zookeeper_suite
