// Many of everything at once. HOLDFAST_SCALE says how many times as many as a quick run has; 10 are the full size.

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "redis/statistics.hpp"
#include "support/eventually.hpp"
#include "support/redis_server.hpp"
#include "support/sanitizers.hpp"

namespace holdfast::redis_suite {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::RedisServer;

constexpr bool instrumented = test::address_sanitized;

constexpr auto long_patience = 180s;

std::size_t scale() {
  const char* const text = std::getenv("HOLDFAST_SCALE");
  return text == nullptr ? 1 : std::stoul(text);
}

/// As many descriptors as this process may have.
void allow_many_descriptors() {
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// A thread with a stack so small that there can be thousands of them.
class SmallThread {
 public:
  explicit SmallThread(std::function<void()> body) : body_(std::move(body)) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{256} << 10U);
    const int error = pthread_create(&thread_, &attributes, &SmallThread::run, this);
    pthread_attr_destroy(&attributes);
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_create");
  }
  ~SmallThread() { pthread_join(thread_, nullptr); }
  SmallThread(const SmallThread&) = delete;
  SmallThread& operator=(const SmallThread&) = delete;

 private:
  static void* run(void* self) {
    static_cast<SmallThread*>(self)->body_();
    return nullptr;
  }

  const std::function<void()> body_;
  pthread_t thread_ = {};
};

/// What this process, and so not the server, has used.
std::chrono::microseconds processor_time() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

TEST(RedisScale, AHandOverIsOneMessageThoughAThousandClientsWait) {
  allow_many_descriptors();
  const RedisServer server;
  const std::size_t crowd = instrumented ? 300 : 100 * std::max<std::size_t>(scale(), 10);
  Client holder(server.url());
  Hold hold = Mutex(holder, "name", {.ttl = 120s}).acquire();
  std::vector<std::unique_ptr<Client>> clients;
  std::atomic<std::size_t> served = 0;
  std::atomic<std::size_t> failed = 0;
  std::atomic<bool> inside = false;
  std::atomic<bool> met = false;
  for (std::size_t i = 0; i < crowd; ++i) {
    Client& client = *clients.emplace_back(std::make_unique<Client>(server.url()));
    Mutex(client, "name", {.ttl = 120s}).async_acquire([&](std::error_code error, Hold granted) {
      if (error || !granted.valid()) ++failed;
      if (inside.exchange(true)) met = true;
      inside = false;
      granted = {};
      ++served;
    });
  }
  ASSERT_TRUE(eventually(long_patience, [&] { return holder.show("name")->waiters.size() == crowd; }));
  ASSERT_EQ(served, 0U);
  server.command({"CONFIG", "RESETSTAT"});
  hold = {};
  EXPECT_TRUE(eventually(long_patience, [&] { return served == crowd; }));
  EXPECT_EQ(failed, 0U);
  EXPECT_FALSE(met);
  Counts after = counts(server);
  EXPECT_EQ(after["publish"], static_cast<long>(crowd));
  std::printf("%zu clients served: %ld messages, %ld scripts\n", crowd, after["publish"],
              after["eval"] + after["evalsha"]);
}

TEST(RedisScale, TenThousandThreadsOfOneClientAreAllServed) {
  const RedisServer server;
  const std::size_t crowd = std::min<std::size_t>(1000 * scale(), instrumented ? 2000 : 10'000);
  Client other(server.url());
  Client client(server.url());
  Hold hold = Mutex(other, "name", {.ttl = 120s}).acquire();
  std::size_t count = 0;  // guarded by the lock under test
  {
    std::vector<std::unique_ptr<SmallThread>> threads;
    for (std::size_t i = 0; i < crowd; ++i) {
      threads.push_back(std::make_unique<SmallThread>([&] {
        Mutex mutex(client, "name", {.ttl = 120s});
        const std::scoped_lock lock(mutex);
        ++count;
      }));
    }
    EXPECT_TRUE(eventually(long_patience, [&] { return client.health().waiting == crowd; }));
    EXPECT_EQ(count, 0U);
    hold = {};
  }
  EXPECT_EQ(count, crowd);
  std::printf("%zu threads served\n", crowd);
}

TEST(RedisScale, AHundredThousandLocksAreHeldForTenLeases) {
  const RedisServer server;
  const bool full = scale() >= 10;
  const std::size_t number = full ? (instrumented ? 20'000 : 100'000) : 5000;
  const auto ttl =
      full ? 30s : 10s;  // a quick run may have little of a busy machine, and must not lose anything either
  const auto time = full ? 10 * ttl : 2 * ttl;
  Client client(server.url());
  std::vector<Hold> holds;
  for (std::size_t i = 0; i < number; ++i) {
    holds.push_back(Mutex(client, "lock-" + std::to_string(i), {.ttl = ttl}).acquire());
  }
  const auto renewals = client.health().renewals;
  const auto processor = processor_time();
  std::this_thread::sleep_for(time);  // the time is what is tested
  const auto used = processor_time() - processor;
  const auto renewed = client.health().renewals - renewals;
  EXPECT_TRUE(std::all_of(holds.begin(), holds.end(), [](const Hold& hold) { return hold.valid(); }));
  EXPECT_EQ(client.health().lost, 0U);
  std::printf("%zu locks for %lld s: %lld ms of processor time, %lu renewals\n", number,
              static_cast<long long>(time.count()),
              static_cast<long long>(std::chrono::ceil<std::chrono::milliseconds>(used).count()), renewed);
}

}  // namespace
}  // namespace holdfast::redis_suite
