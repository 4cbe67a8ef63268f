// Many clients, one lock. HOLDFAST_SCALE says how many times as many as a quick run has; 10 are the full size.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "etcd/metrics.hpp"
#include "holdfast/holdfast.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::EtcdServer;
using test::eventually;

constexpr auto long_patience = 170s;

std::size_t scale() {
  const char* const text = std::getenv("HOLDFAST_SCALE");
  return text == nullptr ? 2 : std::stoul(text);
}

/// One of a fleet: a client that waits for the lock, and has it until it is told to let go.
class Member {
 public:
  /// `turns` counts the grants of all.
  Member(const std::string& url, std::atomic<std::size_t>& turns)
      : client_(url, {.connect_timeout = long_patience}), mutex_(client_, "name", {.ttl = 600s}) {
    mutex_.async_acquire([this, &turns](std::error_code error, Hold hold) {
      if (error) return;  // it ends while it waits
      hold_ = std::move(hold);
      has_it_ = true;
      ++turns;
    });
  }

  bool has_it() const { return has_it_; }
  Released let_go() {
    has_it_ = false;
    return hold_.release();
  }

 private:
  Hold hold_;
  std::atomic<bool> has_it_ = false;
  Client client_;  // before the hold ends, nobody is called any more
  Mutex mutex_;
};

TEST(EtcdCrowd, AReleaseWakesOneOfAll) {
  const std::size_t waiters = 100 * scale();
  constexpr std::size_t releases = 50;
  const EtcdServer server;
  std::atomic<std::size_t> turns = 0;
  std::vector<std::unique_ptr<Member>> members;
  while (members.size() < waiters + 1) members.push_back(std::make_unique<Member>(server.url(), turns));
  const auto all_in_line = [&] {
    std::istringstream keys(server.command({"get", "--prefix", "--keys-only", "holdfast/name/"}));
    std::size_t count = 0;
    for (std::string key; std::getline(keys, key);) count += key.empty() ? 0U : 1U;
    return count == waiters + 1;
  };
  ASSERT_TRUE(eventually(long_patience, all_in_line));
  // Each begins to watch the one ahead and its own key, and looks then.
  long long transactions = -1;
  const auto calm = [&] {
    const long long before = std::exchange(transactions, Metrics(server).transactions());
    return before == transactions || eventually(500ms, [] { return false; });
  };
  ASSERT_TRUE(eventually(long_patience, calm));

  const Metrics before(server);
  for (std::size_t i = 0; i < releases; ++i) {
    ASSERT_TRUE(eventually([&] { return turns == i + 1; }));
    const auto holder = std::ranges::find_if(members, [](const auto& member) { return member->has_it(); });
    ASSERT_EQ((*holder)->let_go(), Released::released);
  }
  ASSERT_TRUE(eventually([&] { return turns == releases + 1; }));
  const Metrics after(server);
  // Each deletion is told to the next in line; to the one who let go only if its watch ends too late.
  EXPECT_GE(after.events() - before.events(), static_cast<long long>(releases));
  EXPECT_LE(after.events() - before.events(), static_cast<long long>(releases + releases / 5));
  // The deletion, and a look by the one that it wakes.
  EXPECT_LE(after.transactions() - before.transactions(), static_cast<long long>(2 * releases + releases / 5));
  RecordProperty("events", std::to_string(after.events() - before.events()));
  RecordProperty("transactions", std::to_string(after.transactions() - before.transactions()));
  std::cout << waiters << " waiters, " << releases << " releases: " << after.events() - before.events() << " events, "
            << after.transactions() - before.transactions() << " transactions\n";
}

}  // namespace
}  // namespace holdfast::etcd_suite
