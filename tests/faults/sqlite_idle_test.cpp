// Processes that wait for a lock of an SQLite store cost nothing.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include "faults/sqlite_store.hpp"
#include "support/peer.hpp"
#include "support/sanitizers.hpp"

namespace holdfast::faults {
namespace {

using test::ProcessPeer;

/// What processes have done so far.
struct Activity {
  std::uint64_t ticks = 0;  ///< of processor time: 10 ms each
  std::uint64_t wakes = 0;  ///< how often a thread of theirs stopped to wait

  friend bool operator==(const Activity&, const Activity&) = default;
};

void add_ticks(const std::filesystem::path& process, Activity& activity) {
  std::ifstream file(process / "stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  fields >> user >> system;
  activity.ticks += user + system;
}

void add_wakes(const std::filesystem::path& process, Activity& activity) {
  for (const auto& thread : std::filesystem::directory_iterator(process / "task")) {
    std::ifstream file(thread.path() / "status");
    for (std::string word; file >> word;) {
      std::uint64_t number = 0;
      if (word == "voluntary_ctxt_switches:" && file >> number) activity.wakes += number;
    }
  }
}

using Peers = std::vector<std::unique_ptr<ProcessPeer>>;

Activity activity_of(const Peers& peers) {
  Activity activity;
  for (const auto& peer : peers) {
    const std::filesystem::path process = "/proc/" + std::to_string(peer->pid());
    add_ticks(process, activity);
    add_wakes(process, activity);
  }
  return activity;
}

/// HOLDFAST_FAULTS_WAITERS processes (30) that wait for a lock, and what they do in a tenth as many seconds.
class SqliteWaiters : public testing::Test {
 protected:
  void wait_with_lease(std::chrono::milliseconds lease) {
    const std::string ttl = std::to_string(lease.count());
    ASSERT_THAT(holder_.ask("acquire a " + ttl + " 0"), testing::StartsWith("granted"));
    for (std::size_t i = 0; i < count_; ++i) {
      waiters_.push_back(std::make_unique<ProcessPeer>(store_.url()));
      waiters_.back()->send("acquire a " + ttl + " 120000");
    }
    ASSERT_TRUE(line_becomes(client_, "a", count_));
    // Quiet first: a process that has just joined the line may have something to do yet.
    Activity before;
    ASSERT_TRUE(test::eventually([&] {
      before = activity_of(waiters_);
      std::this_thread::sleep_for(100ms);
      return activity_of(waiters_) == before;
    }));
    std::this_thread::sleep_for(duration_);
    const Activity after = activity_of(waiters_);
    used_ = {after.ticks - before.ticks, after.wakes - before.wakes};
    std::cout << count_ << " waiting processes in " << duration_.count() << " ms, lease " << ttl
              << " ms: " << used_.ticks << " ticks of 10 ms, awake " << used_.wakes << " times\n";
  }
  /// They were not dead: they stand in line, and are served.
  void expect_service() {
    ASSERT_EQ(holder_.ask("release a"), "released");
    EXPECT_TRUE(test::eventually([&] {
      return std::any_of(waiters_.begin(), waiters_.end(), [](const auto& it) { return it->receive(1ms).has_value(); });
    }));
  }

  /// How often all of them look, if each does so once in that time.
  std::uint64_t looks_every(std::chrono::milliseconds interval) const {
    return count_ * static_cast<std::uint64_t>(duration_.count()) / static_cast<std::uint64_t>(interval.count());
  }
  /// A third of a millisecond for each look; more where the build is slow on purpose.
  static std::uint64_t most_ticks(std::uint64_t looks) {
    if (test::address_sanitized) looks *= 20;
    return std::max<std::uint64_t>(1, looks / 30);
  }

  const char* const wanted_ = std::getenv("HOLDFAST_FAULTS_WAITERS");
  const std::size_t count_ = wanted_ == nullptr ? 30 : std::stoul(wanted_);
  const std::chrono::milliseconds duration_{100 * count_};
  SqliteStore store_;
  Client client_{store_.url()};
  ProcessPeer holder_{store_.url()};
  Peers waiters_;
  Activity used_;
};

// With a lease of two minutes no renewal is due. What is left is the look that stands behind every wake-up, once in 5
// s. One that polled once a second would be noticed by its wakes long before its ticks can be seen.
TEST_F(SqliteWaiters, UseNoProcessorTime) {
  wait_with_lease(120s);
  EXPECT_LE(used_.wakes, looks_every(4s) + count_ * 6 / 5) << "and a little, for what it still did for the beginning";
  EXPECT_LE(used_.ticks, most_ticks(looks_every(5s)));
  expect_service();
}

// With the usual lease of 10 s, a waiter renews its place every 3 s or so, which is such a look, too.
TEST_F(SqliteWaiters, UseAMomentForEachRenewal) {
  wait_with_lease(10s);
  EXPECT_LE(used_.wakes, 2 * looks_every(2900ms) + count_ * 6 / 5);
  EXPECT_LE(used_.ticks, most_ticks(looks_every(2900ms)));
  expect_service();
}

// The same measurement of a process that is not idle.
TEST(SqliteMeter, MovesForAProcessThatIsBusy) {
  const SqliteStore store;
  Peers busy;
  busy.push_back(std::make_unique<ProcessPeer>(store.url()));
  ASSERT_THAT(busy[0]->ask("identity"), testing::SizeIs(32));
  const Activity before = activity_of(busy);
  ASSERT_EQ(busy[0]->ask("count a " + (store.directory() / "number").string() + " 300"), "counted");
  const Activity after = activity_of(busy);
  EXPECT_GT(after.ticks, before.ticks);
  EXPECT_GT(after.wakes, before.wakes);
}

}  // namespace
}  // namespace holdfast::faults
