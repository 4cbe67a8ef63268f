// Servers that answer at random: well-formed replies of the wrong shape, right shapes with absurd values, and bytes
// that are no replies. Nothing may crash, hang, or throw anything but an Error. (The reader alone: unit suite,
// RedisReply.)

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <random>
#include <string>

#include "holdfast/holdfast.hpp"
#include "redis/fake_server.hpp"
#include "support/every_call.hpp"

namespace holdfast::redis_suite {
namespace {

using namespace std::chrono_literals;

class Babble {
 public:
  explicit Babble(std::uint32_t seed) : random_(seed) {}

  std::string operator()() {
    const std::scoped_lock lock(mutex_);
    std::string words;
    for (std::size_t replies = below(3) + 1; replies > 0; --replies) words += reply(0);
    if (below(8) == 0) words[below(words.size())] = static_cast<char>(below(256));
    if (below(8) == 0) words.resize(below(words.size()));
    return words;
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  std::string reply(int depth) {
    switch (below(depth < 3 ? 6 : 4)) {
      case 0: return "+OK\r\n";
      case 1: return below(4) == 0 ? "$-1\r\n" : text();
      case 2:
      case 3: return ":" + std::to_string(number()) + "\r\n";
      case 4: return below(4) == 0 ? "-" + complaint() + " of no consequence\r\n" : array(below(9), depth);
      default: return message();
    }
  }
  std::string array(std::size_t size, int depth) {
    std::string words = "*" + std::to_string(size) + "\r\n";
    while (size-- > 0) words += reply(depth + 1);
    return words;
  }
  /// As a channel's subscribers get it.
  std::string message() { return "*3\r\n$7\r\nmessage\r\n" + text() + text(); }
  std::string text() {
    std::string words;
    switch (below(4)) {
      case 0: words = std::to_string(number()); break;
      case 1: words = "subscribe"; break;
      default:
        for (std::size_t size = below(64); size > 0; --size) words += static_cast<char>(below(256));
    }
    return "$" + std::to_string(words.size()) + "\r\n" + words + "\r\n";
  }
  std::string complaint() {
    static constexpr std::array<const char*, 6> words = {"NOSCRIPT", "NOAUTH", "OOM", "BUSY", "MOVED 1 host:1", ""};
    return words[below(words.size())];
  }
  long long number() {
    static constexpr std::array<long long, 10> numbers = {0,
                                                          1,
                                                          2,
                                                          3,
                                                          -1,
                                                          1'000,
                                                          1LL << 32U,
                                                          1LL << 56U,
                                                          std::numeric_limits<long long>::max(),
                                                          std::numeric_limits<long long>::min()};
    return numbers[below(numbers.size())];
  }

  std::mutex mutex_;
  std::mt19937 random_;
};

void listen_to_babble(const std::string& layout) {
  const char* const wanted = std::getenv("HOLDFAST_NONSENSE_SEEDS");
  const unsigned long seeds = wanted != nullptr ? std::stoul(wanted) : 6;
  int believed = 0;
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(seed);
    Babble babble(seed);
    const FakeServer server([&](int) { return babble(); });
    Client client("redis://" + server.address() + "?layout=" + layout,
                  {.connect_timeout = 200ms, .close_timeout = 100ms, .log = [](LogLevel, std::string_view) {}});
    believed += test::make_every_call(client, {.ttl = 150ms});
  }
  EXPECT_GT(believed, 0) << "such words must reach the code behind the reader";
}

TEST(RedisNonsense, HurtsNobodyInTheQueueLayout) { listen_to_babble("queue"); }
TEST(RedisNonsense, HurtsNobodyInThePlainLayout) { listen_to_babble("plain"); }

/// Whoever reads such a line again with every piece of it has no time to look at the clock.
TEST(RedisNonsense, ALineWithoutAnEndIsNotListenedTo) {
  const FakeServer server("-ERR " + std::string(std::size_t{10} << 20U, 'x'));
  Client client("redis://" + server.address(), {.close_timeout = 100ms});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(test::succeeds([&] { static_cast<void>(Mutex(client, "a").try_acquire_for(1s)); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
}

}  // namespace
}  // namespace holdfast::redis_suite
