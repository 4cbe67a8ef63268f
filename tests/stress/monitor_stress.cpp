// The monitor alone, in front of a server that echoes: threads that wait with and without deadlines, one-way messages,
// cancels and sleeps, while renewals go on. A role or a wake-up that gets lost shows as a wait that does not end.
#include <gtest/gtest.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <semaphore>

#include "base/file_descriptor.hpp"
#include "core/runtime/monitor.hpp"
#include "stress/stress.hpp"
#include "support/eventually.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using core::Monitor;
using spi::Expectation;

/// Sends back what it gets, on a thread of its own: at once, or, while it is held, byte by byte when it is told to.
class EchoServer {
 public:
  explicit EchoServer(bool held) : held_(held) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    client = base::FileDescriptor(ends[0]);
    server_ = base::FileDescriptor(ends[1]);
    thread_ = std::jthread([this] {
      std::array<char, 512> buffer{};
      const std::size_t most = held_ ? 1 : buffer.size();
      for (ssize_t got = 0; (got = ::read(server_.get(), buffer.data(), most)) > 0;) {
        if (held_) let_through_.acquire();
        if (::send(server_.get(), buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) return;
      }
    });
  }
  ~EchoServer() {
    ::shutdown(server_.get(), SHUT_RDWR);
    let_one_through();
  }

  void let_one_through() { let_through_.release(); }

  base::FileDescriptor client;

 private:
  const bool held_;
  std::counting_semaphore<> let_through_{0};
  base::FileDescriptor server_;
  std::jthread thread_;
};

/// Uses the echo server as a backend uses its store: one byte out, one byte back, in order, under the monitor.
class EchoClient {
 public:
  enum class Outcome { answered, timed_out, cancelled };

  enum class Kind {
    busy,   ///< renews all the time, and the server answers at once
    quiet,  ///< nothing happens but what the test does: nothing else can make up for a lost wake-up
  };

  explicit EchoClient(Kind kind = Kind::busy)
      : monitor(workers_), server(kind == Kind::quiet), renewal_(monitor, [this] { renew(); }) {
    const Monitor::Section section(monitor);
    monitor.watch(server.client.get(), {.readable = true}, [this](spi::Loop::Ready) { receive(); });
    if (kind == Kind::busy) renewal_.set(monitor.now() + 5ms);
  }
  ~EchoClient() {
    {
      const Monitor::Section section(monitor);
      renewal_.cancel();
      monitor.unwatch(server.client.get());
      unanswered_.clear();
    }
    monitor.stop();
  }

  /// Sends a byte and waits until it is back.
  Outcome call(base::Duration patience) {
    Wait wait;
    Monitor::Section section(monitor);
    wait.expectation.emplace(monitor, Expectation::Of::user);
    wait.timer.emplace(monitor, [&] { finish(wait, Outcome::timed_out); });
    wait.timer->set(monitor.now() + patience);
    waiting_.push_back(wait);
    send(&wait);
    section.wait(wait.waiter);
    return wait.outcome;
  }

  /// Waits for another thread of this client, and not for the server.
  Outcome wait_for_a_friend(base::Duration patience) {
    Wait wait;
    Monitor::Section section(monitor);
    wait.timer.emplace(monitor, [&] { finish(wait, Outcome::timed_out); });
    wait.timer->set(monitor.now() + patience);
    waiting_.push_back(wait);
    section.wait(wait.waiter);
    return wait.outcome;
  }

  void one_way() {
    const Monitor::Section section(monitor);
    send(nullptr);
  }

  /// Ends the wait of whoever waits longest.
  void cancel_somebody() {
    const Monitor::Section section(monitor);
    if (!waiting_.empty()) finish(waiting_.front(), Outcome::cancelled);
  }

  /// The same from outside the monitor, as another client's store would.
  void cancel_somebody_from_outside() {
    monitor.post([this] {
      if (!waiting_.empty()) finish(waiting_.front(), Outcome::cancelled);
    });
  }

  std::size_t waiting() {
    const Monitor::Section section(monitor);
    return waiting_.size();
  }

  std::atomic<long> renewals{0};

 private:
  core::Workers workers_;

 public:
  Monitor monitor;
  EchoServer server;

 private:
  struct Wait : base::ListNode<Wait> {
    Monitor::Waiter waiter;
    std::optional<Expectation> expectation;
    std::optional<spi::Timer> timer;
    Outcome outcome = Outcome::answered;
  };
  struct Unanswered {
    Wait* wait = nullptr;
    std::unique_ptr<Expectation> renewal;
  };

  void finish(Wait& wait, Outcome outcome) {
    waiting_.remove(wait);
    wait.outcome = outcome;
    wait.expectation.reset();
    wait.timer.reset();
    for (Unanswered& entry : unanswered_) {
      if (entry.wait == &wait) entry.wait = nullptr;
    }
    monitor.complete(wait.waiter);
  }

  void send(Wait* wait, std::unique_ptr<Expectation> renewal = {}) {
    unanswered_.push_back({wait, std::move(renewal)});
    if (::send(server.client.get(), "x", 1, MSG_NOSIGNAL) != 1) std::abort();
  }

  void receive() {
    std::array<char, 512> buffer{};
    const ssize_t got = ::recv(server.client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    for (ssize_t i = 0; i < got; ++i) {
      const Unanswered first = std::move(unanswered_.front());
      unanswered_.pop_front();
      if (first.renewal) ++renewals;
      if (first.wait != nullptr) finish(*first.wait, Outcome::answered);
    }
  }

  void renew() {
    renewal_.set(monitor.now() + 5ms);
    send(nullptr, std::make_unique<Expectation>(monitor, Expectation::Of::upkeep));
  }

  spi::Timer renewal_;
  base::IntrusiveList<Wait> waiting_;
  std::deque<Unanswered> unanswered_;
};

class MonitorStress : public testing::TestWithParam<int> {};

TEST_P(MonitorStress, EveryWaitEnds) {
  EchoClient client;
  std::atomic<long> answered{0};
  std::atomic<long> ended_early{0};
  std::atomic<long> lost_wake_ups{0};

  hammer(GetParam(), [&](int, std::mt19937& random) {
    const auto began = std::chrono::steady_clock::now();
    auto outcome = EchoClient::Outcome::answered;
    switch (random() % 16) {
      case 0: client.one_way(); break;
      case 1: outcome = client.call(std::chrono::microseconds(random() % 200)); break;
      case 2: client.cancel_somebody(); break;
      case 3: client.cancel_somebody_from_outside(); break;
      case 4: outcome = client.wait_for_a_friend(std::chrono::microseconds(random() % 3000)); break;
      case 5: std::this_thread::sleep_for(std::chrono::microseconds(random() % 300)); break;
      default:
        outcome = client.call(2 * longest_wait);
        if (outcome == EchoClient::Outcome::answered) ++answered;
        break;
    }
    if (outcome != EchoClient::Outcome::answered) ++ended_early;
    if (std::chrono::steady_clock::now() - began > longest_wait) ++lost_wake_ups;
  });

  EXPECT_EQ(lost_wake_ups, 0);
  EXPECT_GT(answered, 0);
  EXPECT_GT(ended_early, 0);
  EXPECT_GT(client.renewals, 0);
  std::printf("%d threads: %ld calls, %ld ended early, %ld renewals\n", GetParam(), answered.load(), ended_early.load(),
              client.renewals.load());
}

INSTANTIATE_TEST_SUITE_P(Threads, MonitorStress, testing::Values(2, 3, 8, 16, 64), testing::PrintToStringParamName());

TEST(MonitorRole, IsPassedOnWhenItsHolderLeaves) {
  constexpr int threads = 4;  // passed on more than once
  for (int round = 0; round < 30; ++round) {
    EchoClient client(EchoClient::Kind::quiet);
    std::atomic<int> answered{0};
    std::vector<std::jthread> waiters;
    for (std::size_t i = 1; i <= threads; ++i) {
      waiters.emplace_back([&] {
        EXPECT_EQ(client.call(5 * longest_wait), EchoClient::Outcome::answered);
        ++answered;
      });
      ASSERT_TRUE(eventually([&] { return client.waiting() == i; }));
    }
    for (int i = 1; i <= threads; ++i) {
      client.server.let_one_through();
      ASSERT_TRUE(eventually(longest_wait, [&] { return answered == i; })) << "answer " << i << " in round " << round;
    }
  }
}

TEST(MonitorRole, DoesNotKeepItsHolderAsleepWhenSomebodyElseCompletesIt) {
  for (int round = 0; round < 50; ++round) {
    EchoClient client(EchoClient::Kind::quiet);
    std::atomic<bool> ended{false};
    const std::jthread reader([&] {
      EXPECT_EQ(client.call(5 * longest_wait), EchoClient::Outcome::cancelled);
      ended = true;
    });
    ASSERT_TRUE(eventually([&] { return client.waiting() == 1; }));
    if (round % 2 == 0) {
      client.cancel_somebody();
    } else {
      client.cancel_somebody_from_outside();
    }
    ASSERT_TRUE(eventually(longest_wait, [&] { return ended.load(); })) << "in round " << round;
  }
}

/// What the signal handler of the stuck thread waits on.
sem_t go_on;

TEST(MonitorRenewals, DoNotDependOnTheThreadThatHasTheRole) {
  EchoClient client;
  ASSERT_EQ(::sem_init(&go_on, 0, 0), 0);
  struct sigaction stick{};
  stick.sa_handler = [](int) {
    while (::sem_wait(&go_on) != 0) {
    }
  };
  ASSERT_EQ(::sigaction(SIGUSR1, &stick, nullptr), 0);

  // It waits for an answer that the server never sends, so it has the role, and then it is stuck in a signal handler.
  std::atomic<bool> waiting{false};
  Monitor::Waiter waiter;
  std::optional<Expectation> expectation;
  std::jthread stuck([&] {
    Monitor::Section section(client.monitor);
    expectation.emplace(client.monitor, Expectation::Of::user);
    waiting = true;
    section.wait(waiter);
  });
  ASSERT_TRUE(eventually([&] { return waiting.load(); }));
  const long before_it_sticks = client.renewals;
  ASSERT_TRUE(eventually([&] { return client.renewals > before_it_sticks + 2; }));
  ASSERT_EQ(::pthread_kill(stuck.native_handle(), SIGUSR1), 0);

  const long while_stuck = client.renewals;
  EXPECT_TRUE(eventually([&] { return client.renewals > while_stuck + 20; }));
  EXPECT_EQ(client.call(2 * longest_wait), EchoClient::Outcome::answered) << "nor do other calls";

  ::sem_post(&go_on);
  {
    const Monitor::Section section(client.monitor);
    expectation.reset();
    client.monitor.complete(waiter);
  }
}

}  // namespace
}  // namespace holdfast::test
