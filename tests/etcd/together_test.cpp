// Transactions that go to the server together, and what happens to all if something happens to one.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "etcd/lease_of.hpp"
#include "holdfast/holdfast.hpp"
#include "support/errors.hpp"
#include "support/etcd_server.hpp"
#include "support/eventually.hpp"
#include "support/proxy.hpp"
#include "support/recorder.hpp"

namespace holdfast::etcd_suite {
namespace {

using namespace std::chrono_literals;
using test::EtcdServer;
using test::eventually;
using test::Proxy;

/// Locks that are asked for without waiting for one after the other.
class ManyLocks {
 public:
  void ask_for(Client& client, const std::string& name, LockOptions options) {
    mutexes_.push_back(std::make_unique<Mutex>(client, name, std::move(options)));
    mutexes_.back()->async_acquire([answers = answers_](std::error_code error, Hold hold) {
      answers->add({error, std::make_shared<Hold>(std::move(hold))});
    });
  }
  bool all_are_held() const {
    if (!answers_->reaches(mutexes_.size())) return false;
    return std::ranges::all_of(answers_->all(), [](const Answer& each) { return !each.error && each.hold->valid(); });
  }
  void give_back() { answers_->take(); }

 private:
  struct Answer {
    std::error_code error;
    std::shared_ptr<Hold> hold;
  };
  std::vector<std::unique_ptr<Mutex>> mutexes_;
  const std::shared_ptr<test::Recorder<Answer>> answers_ = std::make_shared<test::Recorder<Answer>>();
};

std::string numbered(int number) { return "name-" + std::to_string(number); }

TEST(EtcdTogether, LocksThatAreAskedForAtOnceAreFewTransactions) {
  constexpr int count = 64;
  const EtcdServer server;
  Client client(server.url());
  Mutex(client, "warm", {.ttl = 60s}).acquire().release();
  // On a busy machine, they may be asked for more slowly than they are had.
  EXPECT_TRUE(eventually([&] {
    const long long before = server.revision();
    ManyLocks locks;
    for (int i = 0; i < count; ++i) locks.ask_for(client, numbered(i), {.ttl = 60s});
    EXPECT_TRUE(locks.all_are_held());
    const long long transactions = server.revision() - before;
    EXPECT_EQ(client.list("name-").size(), count);
    locks.give_back();
    EXPECT_TRUE(eventually([&] { return client.list("name-").empty(); }));
    return transactions <= count / 2;
  }));
}

TEST(EtcdTogether, GivingBackAndTakingAgainIsOneTransaction) {
  constexpr int count = 20;
  const EtcdServer server;
  Client client(server.url());
  Mutex mutex(client, "name", {.ttl = 60s});
  // On a busy machine, the acquire comes too late now and then.
  EXPECT_TRUE(eventually([&] {
    const long long before = server.revision();
    for (int i = 0; i < count; ++i) const Hold hold = mutex.acquire();
    return server.revision() - before <= count * 3 / 2;
  }));
}

TEST(EtcdTogether, ALeaseThatIsGoneIsTheTroubleOfThoseUnderIt) {
  constexpr int count = 20;
  const EtcdServer server;
  Client client(server.url());
  Hold gone = Mutex(client, "gone", {.ttl = 60s}).acquire();
  const Hold stays = Mutex(client, "stays", {.ttl = 50s}).acquire();
  const std::string lease = lease_of(server, "holdfast/gone/");
  ASSERT_NE(lease, lease_of(server, "holdfast/stays/"));
  gone.release();  // else the client would hear of it
  server.command({"lease", "revoke", lease});
  ManyLocks locks;
  for (int i = 0; i < count; ++i) locks.ask_for(client, numbered(i), {.ttl = i % 2 == 0 ? 60s : 50s});
  ASSERT_TRUE(locks.all_are_held());
  EXPECT_TRUE(stays.valid());
  for (int i = 1; i < count; i += 2) {
    EXPECT_EQ(lease_of(server, "holdfast/" + numbered(i) + "/"), lease_of(server, "holdfast/stays/"))
        << "which nobody should think to be gone";
  }
}

TEST(EtcdTogether, ALostReplyLeavesOneKeyForEach) {
  constexpr int count = 20;
  const EtcdServer server;
  Proxy proxy(server.port());
  Client client("etcd://" + proxy.address());
  Client observer(server.url());
  Mutex(client, "warm", {.ttl = 10s}).acquire().release();
  proxy.lose_replies();
  ManyLocks locks;
  for (int i = 0; i < count; ++i) locks.ask_for(client, numbered(i), {.ttl = 10s});
  ASSERT_TRUE(eventually([&] { return observer.list("name-").size() == count; })) << "they have arrived";
  proxy.reset();
  ASSERT_TRUE(locks.all_are_held());
  for (const LockStatus& lock : observer.list("name-")) {
    EXPECT_EQ(lock.holders.size(), 1U) << lock.name;
    EXPECT_TRUE(lock.waiters.empty()) << lock.name;
  }
}

TEST(EtcdTogether, AllAreServedAfterTheServerStoodStill) {
  constexpr int count = 20;
  EtcdServer server;
  Client client(server.url());
  Mutex(client, "warm", {.ttl = 60s}).acquire().release();
  server.pause();
  ManyLocks locks;
  for (int i = 0; i < count; ++i) locks.ask_for(client, numbered(i), {.ttl = 60s});
  EXPECT_TRUE(test::errc_of([&] { static_cast<void>(Mutex(client, "late", {.ttl = 1s}).try_acquire_for(1s)); }));
  server.resume();
  EXPECT_TRUE(locks.all_are_held());
}

}  // namespace
}  // namespace holdfast::etcd_suite
