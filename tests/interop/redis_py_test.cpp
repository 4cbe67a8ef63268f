// Layout `plain` and redis-py's Lock are one lock: they exclude each other, and neither frees what the other holds.

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "interop/counting.hpp"
#include "interop/other_process.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/forked_child.hpp"
#include "support/redis_server.hpp"

namespace holdfast::interop {
namespace {

using namespace std::chrono_literals;
using test::ChildReport;
using test::errc_of;
using test::ForkedChild;

class RedisPy : public testing::Test {
 protected:
  std::string url() const { return server_.url() + "?layout=plain"; }
  /// Debian's Python, because its modules belong to that one. `arguments` are words.
  OtherProcess python(const std::vector<std::string>& arguments) const {
    std::string command = "/usr/bin/python3 " HOLDFAST_INTEROP_SOURCES "/redis_py_client.py " + server_.port();
    for (const std::string& argument : arguments) command += " '" + argument + "'";
    return OtherProcess(command);
  }
  std::string key(const std::string& name) const { return server_.command({"GET", name}); }
  void go() const { server_.command({"SET", "go", "1"}); }

  /// Three processes of each side, and `other`, count until each side had its turns.
  void count(const Counting& counting, const std::string& other = {}) const {
    std::vector<ForkedChild> children;
    for (int number = 0; number < 3; ++number) {
      children.emplace_back([&](ChildReport&) {
        Client client(url());
        Mutex mutex(client, "counted");
        while (!counting.enough()) {
          const std::scoped_lock lock(mutex);
          counting.count_one();
        }
      });
    }
    std::vector<OtherProcess> pythons;
    const std::string turns = std::to_string(turns_of_each_side);
    for (int number = 0; number < 3; ++number) {
      pythons.push_back(python({"count", "counted", counting.directory(), turns}));
    }
    if (!other.empty()) pythons.push_back(python({other, "counted", counting.directory(), turns}));
    for (ForkedChild& child : children) EXPECT_TRUE(child.succeeds());
    for (OtherProcess& process : pythons) EXPECT_TRUE(process.succeeds());
  }

  test::RedisServer server_;
};

TEST_F(RedisPy, CountsTogetherWithHoldfast) {
  const Counting counting('p');
  count(counting);
  counting.expect_that_all_were_counted();
  EXPECT_EQ(key("counted"), "");
}

// The control: that the counter is right is the lock's doing.
TEST_F(RedisPy, AClientThatIgnoresTheLockMakesTheCounterWrong) {
  EXPECT_TRUE(goes_wrong('p', [&](const Counting& counting) { count(counting, "count_without_lock"); }));
}

TEST_F(RedisPy, IsRefusedWhileHoldfastHolds) {
  Client client(url());
  Hold hold = Mutex(client, "mine").acquire();
  EXPECT_EQ(python({"try_lock", "mine"}).line(), "busy");
  EXPECT_EQ(hold.release(), Released::released);
  EXPECT_EQ(python({"try_lock", "mine"}).line(), "granted");
}

TEST_F(RedisPy, KeepsHoldfastWaitingUntilItLetsGo) {
  OtherProcess other = python({"hold", "mine", "30"});
  const std::string token = other.line();
  ASSERT_TRUE(token.starts_with("granted "));
  Client client(url());
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
  EXPECT_FALSE(Mutex(client, "mine").try_acquire_for(200ms));
  const LockStatus status = client.show("mine").value();
  ASSERT_EQ(status.holders.size(), 1U);
  EXPECT_EQ(status.holders[0].client.id, "") << "nobody knows who it is";
  EXPECT_EQ(status.number, 0U) << "and it has no token";
  EXPECT_GT(status.holders[0].lease_left, 0ms);
  EXPECT_LE(status.holders[0].lease_left, 30s);
  EXPECT_EQ("granted " + key("mine"), token);
  go();
  EXPECT_EQ(other.line(), "done");
  EXPECT_TRUE(Mutex(client, "mine").try_acquire_for(test::patience));
}

TEST_F(RedisPy, KeepsHoldfastWaitingWithoutAnExpiry) {
  OtherProcess other = python({"hold", "mine", "0"});
  ASSERT_NE(other.line(), "");
  Client client(url());
  EXPECT_FALSE(Mutex(client, "mine").try_acquire_for(200ms));
  EXPECT_EQ(client.show("mine").value().holders.at(0).lease_left, LockOptions::max_ttl) << "as long as can be said";
  go();
  EXPECT_TRUE(Mutex(client, "mine").try_acquire_for(test::patience));
  EXPECT_EQ(other.line(), "done");
}

TEST_F(RedisPy, CannotReleaseOrExtendWhatHoldfastHasTakenOver) {
  OtherProcess other = python({"outlive", "mine", "0.3"});
  ASSERT_EQ(other.line(), "granted");
  Client client(url());
  Hold hold = Mutex(client, "mine").acquire();
  const std::string value = key("mine");
  EXPECT_EQ(other.line(), "not owned");
  EXPECT_EQ(other.line(), "not owned");
  EXPECT_EQ(key("mine"), value);
  EXPECT_TRUE(hold.valid());
  EXPECT_EQ(hold.release(), Released::released);
}

TEST_F(RedisPy, KeepsWhatItHasTakenOverFromHoldfast) {
  Client client(url());
  Hold hold = Mutex(client, "mine", {.ttl = 300ms, .lease = LeaseKind::fixed}).acquire();
  OtherProcess other = python({"hold", "mine", "30"});
  const std::string token = other.line();
  ASSERT_TRUE(token.starts_with("granted "));
  EXPECT_NE(hold.release(), Released::released) << "too late";
  EXPECT_EQ("granted " + key("mine"), token);
  EXPECT_FALSE(Mutex(client, "mine").try_acquire());
  go();
  EXPECT_EQ(other.line(), "done");
}

TEST_F(RedisPy, LosesALockThatIsBroken) {
  OtherProcess other = python({"hold", "mine", "30"});
  ASSERT_NE(other.line(), "");
  Client client(url());
  EXPECT_TRUE(client.evict("mine"));
  EXPECT_FALSE(client.evict("mine"));
  const Hold hold = Mutex(client, "mine").acquire();
  go();
  EXPECT_EQ(other.line(), "not owned");
  EXPECT_TRUE(hold.valid());
}

TEST_F(RedisPy, DoesNotStopTokensFromRising) {
  Client client(url());
  const Token before = Mutex(client, "mine").acquire().token();
  ASSERT_EQ(python({"try_lock", "mine"}).line(), "granted");
  ASSERT_TRUE(client.evict("mine"));
  EXPECT_GT(Mutex(client, "mine").acquire().token(), before);
}

}  // namespace
}  // namespace holdfast::interop
