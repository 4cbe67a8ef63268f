// Our locks and those of `etcdctl lock` stand in one line. (Go's concurrency.Mutex, of which etcdctl is made, is the
// same.)

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "interop/counting.hpp"
#include "support/background.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"
#include "support/server_process.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;
using test::ChildReport;
using test::eventually;
using test::ForkedChild;
using test::ServerProcess;

class Etcdctl : public testing::Test {
 protected:
  std::string endpoint() const { return "127.0.0.1:" + server_.port(); }

  /// Two processes of each side, and perhaps one that takes no lock, count until each side had its turns.
  void count(const Counting& counting, bool without_lock) const {
    std::vector<ForkedChild> children;
    for (int number = 0; number < 2; ++number) {
      children.emplace_back([&](ChildReport&) {
        alarm(100);
        Client client(server_.url());
        Mutex mutex(client, "counted");
        while (!counting.enough()) {
          const std::scoped_lock lock(mutex);
          counting.count_one();
        }
      });
    }
    std::vector<std::unique_ptr<ServerProcess>> others;
    for (int number = 0; number < 3; ++number) {
      if (number == 2 && !without_lock) break;
      others.push_back(std::make_unique<ServerProcess>(
          std::vector<std::string>{HOLDFAST_ETCDCTL_COUNT, endpoint(), "holdfast/counted", counting.directory(),
                                   std::to_string(turns_of_each_side), number == 2 ? "without" : ""},
          directory_.path()));
    }
    for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
    for (auto& other : others) EXPECT_TRUE(eventually([&] { return !other->runs(); }));
  }

  const test::TemporaryDirectory directory_;
  test::EtcdServer server_;
};

TEST_F(Etcdctl, CountsTogetherWithHoldfast) {
  const Counting counting('e');
  count(counting, false);
  counting.expect_that_all_were_counted();
}

// The control: that the counter is right is the lock's doing.
TEST_F(Etcdctl, AClientThatIgnoresTheLockMakesTheCounterWrong) {
  EXPECT_TRUE(goes_wrong('e', [&](const Counting& counting) { count(counting, true); }));
}

TEST_F(Etcdctl, WaitsForHoldfastAndHoldfastForIt) {
  Client client(server_.url());
  Hold hold = Mutex(client, "mine").acquire();
  ServerProcess other({"etcdctl", "--endpoints=" + endpoint(), "lock", "holdfast/mine", "touch", "granted"},
                      directory_.path());
  ASSERT_TRUE(eventually([&] { return client.show("mine")->waiters.size() == 1; }));
  EXPECT_EQ(client.show("mine")->waiters[0].client.id, "") << "nobody knows who it is";
  test::Background next([&](std::stop_token stop) { return Mutex(client, "mine").acquire(stop).valid(); });
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "granted"));
  hold.release();
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(directory_.path() / "granted"); }));
  EXPECT_TRUE(next.take());
}

TEST_F(Etcdctl, LosesALockThatIsBroken) {
  ServerProcess other({"etcdctl", "--endpoints=" + endpoint(), "lock", "holdfast/mine"}, directory_.path());
  Client client(server_.url());
  ASSERT_TRUE(eventually([&] { return client.show("mine").has_value(); }));
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
  EXPECT_GT(client.show("mine")->holders.at(0).lease_left, 0ms);
  EXPECT_TRUE(client.evict("mine"));
  EXPECT_TRUE(Mutex(client, "mine").try_acquire());
}

}  // namespace
}  // namespace holdfast::interop
