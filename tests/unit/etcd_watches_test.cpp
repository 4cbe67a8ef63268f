#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/watches.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using test::FakeWire;
using What = Watches::What;
using Asked = std::vector<FakeWire::Watch>;

class EtcdWatches : public testing::Test {
 protected:
  EtcdWatches() {
    FakeWire::reset();
    calls_.wire();
    loop_.run();
  }

  static FakeWire& wire() { return *FakeWire::latest; }
  std::uint64_t watch(const std::string& key) {
    const std::uint64_t number =
        watches_.watch(key, {}, [this, key](What what, const WatchReply&) { told_.emplace_back(key, what); });
    loop_.run();
    return number;
  }
  std::vector<std::pair<std::string, What>> told() {
    loop_.run();
    return std::exchange(told_, {});
  }

  using Told = std::vector<std::pair<std::string, What>>;
  test::ManualLoop loop_;
  Address address_ = {.servers = {"a:1", "b:1"}};
  ServerCalls calls_{loop_, address_, &FakeWire::prepare};
  Watches watches_{loop_, calls_};
  Told told_;
};

TEST_F(EtcdWatches, SayWhenTheyBeginAndWhatHappensThen) {
  watch("one");
  watch("other");
  EXPECT_EQ(wire().streams.size(), 1U);
  EXPECT_EQ(wire().watches().watches, (Asked{{"one", ""}, {"other", ""}}));
  EXPECT_TRUE(told().empty());
  wire().watch_began(11, 5);
  wire().watch_began(12, 6);
  EXPECT_EQ(told(), (Told{{"one", What::begun}, {"other", What::begun}}));
  wire().watch_answer({.watch = 12, .events = {{.key = "other", .revision = 7}}});
  EXPECT_EQ(told(), (Told{{"other", What::changed}}));
  wire().watch_answer(
      {.watch = 11, .events = {{.key = "one", .revision = 8}, {.key = "one", .revision = 9, .deleted = true}}});
  EXPECT_EQ(told(), (Told{{"one", What::deleted}}));
  wire().watch_answer({.watch = 13, .events = {{.key = "unknown"}}});
  EXPECT_TRUE(told().empty());
}

TEST_F(EtcdWatches, AreEndedInTheServer) {
  const std::uint64_t number = watch("key");
  wire().watch_began(11, 5);
  loop_.run();
  watches_.unwatch(number);
  EXPECT_EQ(wire().watches().unwatched, std::vector<std::int64_t>{11});
  wire().key_deleted(11, "key", 9);
  EXPECT_EQ(told(), (Told{{"key", What::begun}}));
}

TEST_F(EtcdWatches, ThatNobodyWantsAnyMoreAreEndedAsSoonAsTheyBegin) {
  watches_.unwatch(watch("unwanted"));
  watch("wanted");
  EXPECT_TRUE(wire().watches().unwatched.empty());
  wire().watch_began(11, 5);
  wire().watch_began(12, 5);
  EXPECT_EQ(told(), (Told{{"wanted", What::begun}}));
  EXPECT_EQ(wire().watches().unwatched, std::vector<std::int64_t>{11});
}

TEST_F(EtcdWatches, MayEndThemselvesWhenTheyAreTold) {
  std::uint64_t number = 0;
  int told = 0;
  number = watches_.watch("key", {}, [&](What, const WatchReply&) {
    ++told;
    watches_.unwatch(number);
  });
  loop_.run();
  wire().watch_began(11, 5);
  wire().key_deleted(11, "key", 6);
  loop_.run();
  EXPECT_EQ(told, 1);
}

TEST_F(EtcdWatches, ThatTheServerCancelsBeginAgain) {
  watch("key");
  wire().watch_began(11, 5);
  wire().watch_answer({.watch = 11, .canceled = true});  // by a compaction, for example
  EXPECT_EQ(told(), (Told{{"key", What::begun}}));
  EXPECT_EQ(wire().watches().watches, (Asked{{"key", ""}, {"key", ""}}));
  wire().watch_began(12, 9);
  wire().key_deleted(12, "key", 10);
  EXPECT_EQ(told(), (Told{{"key", What::begun}, {"key", What::deleted}}));
}

TEST_F(EtcdWatches, ThatTheServerRefusesAreNotTakenForOthers) {
  watch("refused");
  watch("allowed");
  wire().watch_answer({.watch = -1, .created = true, .canceled = true});
  wire().watch_began(11, 5);
  EXPECT_EQ(told(), (Told{{"allowed", What::begun}}));
}

TEST_F(EtcdWatches, BeginAgainOnAnotherStreamAfterOneHasEnded) {
  watch("one");
  watch("other");
  wire().watch_began(11, 5);
  const std::uint64_t stream = wire().stream(Stream::watch);
  wire().end_stream(stream, {.code = 13, .message = "nobody knows"});
  EXPECT_EQ(told(), (Told{{"one", What::begun}}));
  EXPECT_EQ(wire().stream(Stream::watch), 0U);
  loop_.advance(50ms);
  EXPECT_EQ(wire().watches().watches, (Asked{{"one", ""}, {"other", ""}}));
  wire().events().watched(stream, {.watch = 11, .events = {{.key = "one", .deleted = true}}});
  EXPECT_TRUE(told().empty()) << "what the old one says is too old";
  wire().watch_began(11, 7);
  wire().watch_began(12, 7);
  EXPECT_EQ(told(), (Told{{"one", What::begun}, {"other", What::begun}}));
}

TEST_F(EtcdWatches, WaitLongerAndLongerForAServerThatEndsAllStreams) {
  watch("key");
  for (const auto pause : {50ms, 100ms, 200ms, 400ms, 800ms, 800ms}) {
    const std::size_t before = wire().streams.size();
    wire().end_stream(wire().stream(Stream::watch), {.code = 13, .message = "nobody knows"});
    loop_.advance(pause - 1ms);
    EXPECT_EQ(wire().streams.size(), before) << pause.count();
    loop_.advance(1ms);
    EXPECT_EQ(wire().streams.size(), before + 1) << pause.count();
  }
}

TEST_F(EtcdWatches, BeginAgainAtOnceAtAnotherServer) {
  watch("key");
  wire().watch_began(11, 5);
  loop_.run();
  const std::uint64_t stream = wire().stream(Stream::watch);
  calls_.move_on();
  loop_.run();
  EXPECT_TRUE(wire().streams.at(stream).closed);
  EXPECT_EQ(wire().watches().server, "b:1");
  EXPECT_EQ(wire().watches().watches, (Asked{{"key", ""}}));
  wire().watch_began(3, 7);
  EXPECT_EQ(told(), (Told{{"key", What::begun}, {"key", What::begun}}));
}

TEST_F(EtcdWatches, TellNothingMoreWhenTheyAreClosed) {
  watch("key");
  wire().watch_began(11, 5);
  watches_.close();
  EXPECT_TRUE(told().empty());
}

}  // namespace
}  // namespace holdfast::etcd
