// What is left behind: nothing.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <vector>

#include "conformance/fixture.hpp"
#include "support/descriptors.hpp"

namespace holdfast::conformance {
namespace {

using test::eventually;
using test::open_descriptors;
using test::thread_count;

// M57
TEST_P(ClientConformance, LeavesNoThreadAndNoDescriptorBehind) {
  {
    Client warm_up = open();
    const Hold hold = Mutex(warm_up, "warm").acquire();
  }
  const auto descriptors = open_descriptors();
  const auto threads = thread_count();
  for (test::Rounds rounds(1000); rounds.next();) {
    Client client = open();
    Mutex mutex(client, "mine");
    mutex.lock();
    mutex.hold().lost_fd();
    mutex.unlock();
    const Hold hold = Mutex(client, "other").acquire();
    hold.lost_fd();
    if (rounds.done() % 2 == 0) client.close();
  }
  // The first client's threads may have been about to end.
  EXPECT_TRUE(eventually([&] { return thread_count() <= threads; })) << thread_count() << " instead of " << threads;
  EXPECT_EQ(open_descriptors(), descriptors);
}

// M57: nor does a lock that was taken often, by hand or by many names.
TEST_P(ClientConformance, UsesNoMoreThreadsAndDescriptorsTheLongerItRuns) {
  Client client = open();
  const auto use = [&](int times) {
    test::Rounds rounds(times);
    while (rounds.next()) {
      const std::string name = "lock/" + std::to_string(rounds.done());
      const Hold hold = Mutex(client, name).acquire();
      hold.lost_fd();
      EXPECT_FALSE(Mutex(client, name).try_acquire_for(0s));
    }
    return rounds.done();
  };
  use(10);
  const auto descriptors = open_descriptors().size();
  const auto threads = thread_count();
  const int last = use(500);
  EXPECT_TRUE(eventually([&] { return open_descriptors().size() <= descriptors && thread_count() <= threads; }));
  for (const int number : {1, last}) EXPECT_TRUE(becomes_free(client, "lock/" + std::to_string(number)));
}

// A program that is started by ours inherits nothing of it.
TEST_P(ClientConformance, AllItsDescriptorsCloseOnExec) {
  const auto before = open_descriptors();
  Client client = open();
  Client other = open();
  const Hold hold = Mutex(client, "mine").acquire();
  hold.lost_fd();
  test::Background waiter([&](std::stop_token stop) { return Mutex(other, "mine").acquire(stop); });
  ASSERT_TRUE(line_becomes(client, "mine", 1));
  std::set<int> ours;
  const auto after = open_descriptors();
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::inserter(ours, ours.end()));
  EXPECT_FALSE(ours.empty());
  for (const int descriptor : ours) EXPECT_TRUE(test::closes_on_exec(descriptor)) << "descriptor " << descriptor;
}

TEST_P(ClientConformance, GivesEverythingBackWhenItIsDestroyed) {
  const std::vector<LockName> names = {"locked", "held"};
  const Client other = open();
  {
    Client client = open();
    Mutex mutex(client, "locked");
    mutex.lock();
    const auto leaked = std::make_unique<Hold>(Mutex(client, "held").acquire());
    client.close();
    for (const LockName& name : names) EXPECT_FALSE(other.show(name));
    mutex.unlock();
  }
  for (const LockName& name : names) EXPECT_FALSE(other.show(name));
}

/// Lets this process have only a few descriptors more than it has.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    getrlimit(RLIMIT_NOFILE, &previous_);
    const auto open = open_descriptors();
    const rlimit few = {.rlim_cur = static_cast<rlim_t>(*open.rbegin()) + 1 + more, .rlim_max = previous_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &previous_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit previous_ = {};
};

TEST_P(HoldConformance, SaysSoWhenTheProcessHasNoDescriptorLeft) {
  Client client = open();
  const Hold hold = Mutex(client, "mine").acquire();
  // The first time that UndefinedBehaviorSanitizer meets a type, it needs a descriptor itself.
  ASSERT_EQ(test::errc_of([] { Hold().lost_fd(); }), Errc::not_held);
  {
    const FewDescriptors few(0);
    std::vector<int> used;  // the numbers below the limit that are free
    for (int next = dup(STDERR_FILENO); next >= 0; next = dup(STDERR_FILENO)) used.push_back(next);
    EXPECT_EQ(test::errc_of([&] { hold.lost_fd(); }), Errc::exhausted);
    for (const int descriptor : used) close(descriptor);
  }
  EXPECT_TRUE(hold.valid());
  EXPECT_FALSE(test::is_readable(hold.lost_fd()));
}

}  // namespace
}  // namespace holdfast::conformance
