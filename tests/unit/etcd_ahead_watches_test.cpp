#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/ahead_watches.hpp"
#include "backends/etcd/keys.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/watches.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using test::FakeWire;
using Asked = std::vector<FakeWire::Watch>;
using Ids = std::vector<std::uint64_t>;

const std::string line = "holdfast/name/";
const std::string client = line + "00000000000000aa";
const std::string first_key = client + "0000000000000000";
const std::string second_key = client + "0000000000000001";

class EtcdAheadWatches : public testing::Test {
 protected:
  EtcdAheadWatches() {
    FakeWire::reset();
    calls_.wire();
    loop_.run();
  }

  static FakeWire& wire() { return *FakeWire::latest; }
  static ClaimKey claim(std::uint64_t id) { return {LockName("name"), LockKind::lock, {0, id}}; }
  bool wait(std::uint64_t id, const std::string& key, std::int64_t seen) {
    const bool look_again = ahead_.wait(claim(id), {.line = line, .key = key, .seen = seen});
    loop_.run();
    return look_again;
  }
  Ids told() {
    loop_.run();
    return std::exchange(told_, {});
  }

  test::ManualLoop loop_;
  Address address_ = {.servers = {"a:1"}};
  ServerCalls calls_{loop_, address_, &FakeWire::prepare};
  Watches watches_{loop_, calls_};
  AheadWatches ahead_{loop_, watches_, [this](const ClaimKey& claim) { told_.push_back(claim.id.low); }};
  Ids told_;
};

TEST_F(EtcdAheadWatches, TellWhoWaitsForAKeyThatItHasGone) {
  EXPECT_FALSE(wait(1, first_key, 5));
  EXPECT_FALSE(wait(2, second_key, 5));
  EXPECT_EQ(wire().watches().watches, (Asked{{client, Keys::end_of(client)}})) << "one for all keys of that client";
  wire().watch_began(11, 6);
  EXPECT_EQ(told(), (Ids{1, 2})) << "it may have gone before";
  wire().key_deleted(11, first_key, 8);
  EXPECT_EQ(told(), Ids{1});
  wire().key_deleted(11, second_key, 9);
  EXPECT_EQ(told(), Ids{2});
}

TEST_F(EtcdAheadWatches, TellWhoWaitsForALineOfAllButNewClaims) {
  EXPECT_FALSE(wait(1, {}, 5));
  EXPECT_EQ(wire().watches().watches, (Asked{{line, Keys::end_of(line)}}));
  wire().watch_began(11, 6);
  EXPECT_EQ(told(), Ids{1});
  wire().watch_answer({.watch = 11, .events = {{.key = first_key, .revision = 7, .created = true}}});
  EXPECT_TRUE(told().empty());
  wire().watch_answer({.watch = 11, .events = {{.key = first_key, .revision = 8}}});
  EXPECT_EQ(told(), Ids{1});
  wire().key_deleted(11, first_key, 9);
  EXPECT_EQ(told(), Ids{1});
}

TEST_F(EtcdAheadWatches, AreThereWhenAClientIsMetAgain) {
  wait(1, first_key, 5);
  wire().watch_began(11, 6);
  loop_.run();
  ahead_.stop(claim(1));
  loop_.advance(1s);
  EXPECT_FALSE(wait(2, second_key, 7));
  EXPECT_EQ(wire().watches().watches.size(), 1U);
  static_cast<void>(told());
  wire().key_deleted(11, second_key, 8);
  EXPECT_EQ(told(), Ids{2});
}

TEST_F(EtcdAheadWatches, SayThatWhatAClaimWaitsForMayHaveGoneAlready) {
  wait(1, first_key, 5);
  wire().watch_began(11, 6);
  wire().key_deleted(11, first_key, 9);
  loop_.run();
  EXPECT_TRUE(wait(2, second_key, 8)) << "seen before the last event";
  EXPECT_FALSE(wait(3, second_key, 9));
  EXPECT_FALSE(wait(2, second_key, 8)) << "it waits for it since before";
}

TEST_F(EtcdAheadWatches, EndWhenNobodyHasNeededThemForAWhile) {
  wait(1, first_key, 5);
  wait(2, first_key, 5);
  wire().watch_began(11, 6);
  loop_.run();
  ahead_.stop(claim(1));
  loop_.advance(10s);
  EXPECT_TRUE(wire().watches().unwatched.empty()) << "the other still waits";
  ahead_.stop(claim(2));
  loop_.advance(1999ms);
  EXPECT_TRUE(wire().watches().unwatched.empty());
  loop_.advance(1ms);
  EXPECT_EQ(wire().watches().unwatched, std::vector<std::int64_t>{11});
}

TEST_F(EtcdAheadWatches, FollowAClaimThatWaitsForSomebodyElse) {
  const std::string others = line + "00000000000000bb";
  wait(1, first_key, 5);
  wire().watch_began(11, 6);
  loop_.run();
  EXPECT_FALSE(wait(1, others + "0000000000000000", 7));
  wire().watch_began(12, 8);
  static_cast<void>(told());
  wire().key_deleted(11, first_key, 9);
  EXPECT_TRUE(told().empty());
  wire().key_deleted(12, others + "0000000000000000", 10);
  EXPECT_EQ(told(), Ids{1});
}

TEST_F(EtcdAheadWatches, TellEverybodyAfterTheStreamHasBroken) {
  wait(1, first_key, 5);
  wait(2, {}, 5);
  wire().watch_began(11, 6);
  wire().watch_began(12, 6);
  static_cast<void>(told());
  wire().end_stream(wire().stream(Stream::watch), test::cut_off());
  loop_.advance(50ms);
  wire().watch_began(1, 20);
  wire().watch_began(2, 20);
  EXPECT_EQ(told(), (Ids{1, 2}));
}

}  // namespace
}  // namespace holdfast::etcd
