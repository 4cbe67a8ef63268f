// Our locks and those of `etcdctl lock` stand in one line. (Go's concurrency.Mutex, of which etcdctl is made, is the
// same.)

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
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

constexpr int turns_of_each_side = 100;

std::string text_of(const std::string& file) {
  std::string text;
  std::getline(std::ifstream(file), text, '\0');
  return text;
}

class Etcdctl : public testing::Test {
 protected:
  Etcdctl() {
    std::ofstream(folder() + "/counter") << "0000000000";
    std::ofstream(folder() + "/turns") << "";
  }

  std::string folder() const { return directory_.path().string(); }
  std::string endpoint() const { return "127.0.0.1:" + server_.port(); }
  int counter() const { return std::stoi(text_of(folder() + "/counter")); }
  std::string turns() const { return text_of(folder() + "/turns"); }
  bool enough() const {
    const std::string all = turns();
    return std::ranges::count(all, 'e') >= turns_of_each_side && std::ranges::count(all, 'c') >= turns_of_each_side;
  }
  void count_one() const {
    const int number = counter();
    std::this_thread::sleep_for(1ms);
    std::fstream(folder() + "/counter", std::ios::in | std::ios::out)
        << std::setw(10) << std::setfill('0') << number + 1;
    std::ofstream(folder() + "/turns", std::ios::app) << 'c';
  }

  /// Two processes of each side, and perhaps one that takes no lock, count until each side had its turns.
  void count(bool without_lock) const {
    std::vector<ForkedChild> children;
    for (int number = 0; number < 2; ++number) {
      children.emplace_back([&](ChildReport&) {
        alarm(100);
        Client client(server_.url());
        Mutex mutex(client, "counted");
        while (!enough()) {
          const std::scoped_lock lock(mutex);
          count_one();
        }
      });
    }
    std::vector<std::unique_ptr<ServerProcess>> others;
    for (int number = 0; number < 3; ++number) {
      if (number == 2 && !without_lock) break;
      others.push_back(std::make_unique<ServerProcess>(
          std::vector<std::string>{HOLDFAST_ETCDCTL_COUNT, endpoint(), "holdfast/counted", folder(),
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
  count(false);
  const std::string all = turns();
  EXPECT_EQ(counter(), static_cast<int>(all.size()));
  EXPECT_GE(std::ranges::count(all, 'e'), turns_of_each_side);
  EXPECT_GE(std::ranges::count(all, 'c'), turns_of_each_side);
  EXPECT_NE(all.find("ec"), std::string::npos) << "they contended";
  EXPECT_NE(all.find("ce"), std::string::npos);
}

// The control: that the counter is right is the lock's doing.
TEST_F(Etcdctl, AClientThatIgnoresTheLockMakesTheCounterWrong) {
  count(true);
  EXPECT_LT(counter(), static_cast<int>(turns().size()));
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
