// How long the tool takes at most when a server accepts connections and says nothing, or does not say anything any
// more: its own limit, and a moment for cleaning up.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.hpp"
#include "cli/tool.hpp"
#include "stores/fixture.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The system accepts connections for it, and nobody answers.
class SilentServer {
 public:
  SilentServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    const bool listens = ::bind(listener_.get(), generic, size) == 0 && ::listen(listener_.get(), 64) == 0 &&
                         ::getsockname(listener_.get(), generic, &size) == 0;
    if (!listens) throw std::runtime_error("no port to listen at");
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }

  const std::string& address() const { return address_; }
  /// Whether somebody connects to it, sooner or later.
  bool gets_a_client() const {
    pollfd wanted{.fd = listener_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, static_cast<int>(std::chrono::milliseconds(patience).count())) == 1;
  }

 private:
  base::FileDescriptor listener_;
  std::string address_;
};

/// A run of the tool, and how long it took. Measured by a thread of its own, so that several can be under way.
class Timed {
 public:
  Timed(const std::string& url, std::vector<std::string> flags, const std::string& variable = "HOLDFAST_OUTER=")
      : process_(tool(words(url, std::move(flags))), {.environment = {known_leaks(), variable}}), thread_([this] {
          finished_ = process_.finish();
          end_ = Clock::now();
        }) {}

  bool has_guardian() const { return !children_of(process_.pid()).empty(); }
  /// As soon as it listens to signals, which it does before it has children.
  void interrupt() {
    EXPECT_TRUE(eventually([&] { return has_guardian(); }));
    process_.signal(SIGINT);
    begin_ = Clock::now();
  }
  /// Counts from now on: it has been started, and will open its client soon.
  void begin_now() {
    EXPECT_TRUE(eventually([&] { return has_guardian(); }));
    begin_ = Clock::now();
  }
  /// On a busy machine it takes a while to be started and to be noticed; less than waiting in vain for two seconds did.
  static constexpr auto usual_allowance = 1500ms;
  /// Waits for its end. REQUIRES: called once.
  void expect(int code, std::chrono::milliseconds limit, const std::string& what,
              std::chrono::milliseconds allowance = usual_allowance) {
    thread_.join();
    EXPECT_EQ(finished_.code, code) << what << ": " << finished_.errors;
    EXPECT_LT(end_ - begin_, limit + allowance) << what;
  }

 private:
  static std::vector<std::string> words(const std::string& url, std::vector<std::string> flags) {
    std::vector<std::string> words = {"run", "job", "--url", url};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "true"});
    return words;
  }

  Clock::time_point begin_ = Clock::now();
  Clock::time_point end_;
  Process process_;
  Finished finished_;
  std::jthread thread_;
};

class Limits : public testing::TestWithParam<const FixtureKind*> {};

TEST_P(Limits, AreKeptWhenTheServerSaysNothing) {
  const SilentServer server;
  const std::string url = GetParam()->url_at(server.address());
  Timed patient(url, {});
  Timed trying(url, {"--try"});
  Timed waiting(url, {"--wait", "1s"});
  Timed brief(url, {"--ttl", "1s", "--wait", "2s"}, "ASAN_OPTIONS=detect_leaks=0");  // to look for them takes a while
  brief.begin_now();
  Timed interrupted(url, {});
  interrupted.interrupt();
  interrupted.expect(128 + SIGINT, 100ms, "a signal");
  waiting.expect(69, 1s, "--wait 1s");
  brief.expect(69, 2s, "--ttl 1s --wait 2s", 1s);  // waiting in vain for the ttl took 1.2 s longer
  patient.expect(69, 5s, "first contact");
  trying.expect(69, 5s, "--try");
}

/// It asks the server whether one of its ancestors holds the lock.
TEST_P(Limits, AreKeptByANestedRunWhichForksBeforeItOpensAClient) {
  const SilentServer server;
  Timed nested(GetParam()->url_at(server.address()), {}, "HOLDFAST_OUTER=aa:7");
  ASSERT_TRUE(server.gets_a_client());
  EXPECT_TRUE(nested.has_guardian()) << "it has threads now, and a process with threads must not fork";
  nested.interrupt();
  nested.expect(128 + SIGINT, 100ms, "a signal while it looks for its ancestors");
}

INSTANTIATE_TEST_SUITE_P(Store, Limits, testing::ValuesIn(kinds_where([](const Capabilities& can) {
                           return can.has_server && can.servers == 1;
                         })),
                         name_of_store);

class LimitsOfAWait : public testing::TestWithParam<const FixtureKind*> {};

/// It has answered once, and so there is something to be given back: a place in the line, with one request, which takes
/// a second at most.
TEST_P(LimitsOfAWait, AreKeptWhenTheServerFallsSilent) {
  constexpr auto one_request = 1s;
  const auto store = GetParam()->make_with_own_server();
  const std::string url = store->url();
  Process holder(tool({"run", "job", "--url", url, "--ttl", "30s", "--", "sleep", "60"}),
                 {.environment = {known_leaks()}});
  const auto shown = [&] { return run(tool({"show", "job", "--url", url, "--json"})).output; };
  ASSERT_TRUE(eventually([&] { return shown().find("\"sleep\"") != std::string::npos; }));
  Timed waiting(url, {"--wait", "6s"});
  Timed interrupted(url, {});
  ASSERT_TRUE(eventually([&] {
    const std::string waiters = shown();
    return waiters.find("\"true\"") != waiters.rfind("\"true\"");
  }));
  store->server()->pause();
  interrupted.interrupt();
  interrupted.expect(128 + SIGINT, one_request, "a signal");
  waiting.expect(75, 6s + one_request, "--wait 6s");
  store->server()->resume();
}

// Who waits is listed where there is a line.
INSTANTIATE_TEST_SUITE_P(Store, LimitsOfAWait, testing::ValuesIn(kinds_where([](const Capabilities& can) {
                           return can.has_server && can.servers == 1 && can.fifo;
                         })),
                         name_of_store);

}  // namespace
}  // namespace holdfast::test
