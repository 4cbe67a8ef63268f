#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "backends/etcd/keep_alives.hpp"
#include "backends/etcd/server_calls.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using test::FakeWire;
using Kept = test::AnswerOf<KeptAlive>;

class EtcdKeepAlives : public testing::Test {
 protected:
  EtcdKeepAlives() {
    FakeWire::reset();
    calls_.wire();
    loop_.run();
  }

  static FakeWire& wire() { return *FakeWire::latest; }
  Kept keep_alive(std::int64_t lease, base::Duration patience = 1s) {
    Kept answer;
    keep_alives_.keep_alive(lease, loop_.now() + patience, answer.done());
    loop_.run();
    return answer;
  }
  void answer(std::int64_t lease, std::int64_t seconds = 10) {
    wire().keep_alive_answer(lease, seconds);
    loop_.run();
  }

  test::ManualLoop loop_;
  Address address_ = {.servers = {"a:1", "b:1"}};
  ServerCalls calls_{loop_, address_, &FakeWire::prepare};
  KeepAlives keep_alives_{loop_, calls_};
};

TEST_F(EtcdKeepAlives, AreAnsweredInTheOrderInWhichTheyWereSent) {
  const base::Instant begin = loop_.now();
  const Kept first = keep_alive(7);
  loop_.pause(100ms);
  const Kept second = keep_alive(8);
  const Kept again = keep_alive(7);
  EXPECT_EQ(wire().streams.size(), 1U);
  EXPECT_EQ(wire().keep_alives().kept_alive, (std::vector<std::int64_t>{7, 8, 7}));
  answer(7, 20);
  ASSERT_TRUE(first.is_good());
  EXPECT_EQ(first.value().seconds, 20);
  EXPECT_EQ(first.value().sent, begin);
  EXPECT_FALSE(second.has_come());
  answer(8);
  EXPECT_EQ(second.value().sent, begin + 100ms);
  EXPECT_FALSE(again.has_come());
  answer(7);
  EXPECT_TRUE(again.is_good());
}

TEST_F(EtcdKeepAlives, SayThatALeaseIsGone) {
  const Kept gone = keep_alive(7);
  answer(7, 0);
  EXPECT_LT(gone.value().seconds, 1);
}

TEST_F(EtcdKeepAlives, FailWithoutAConnection) {
  ServerCalls calls(loop_, address_, &FakeWire::prepare);  // which is made only when it is used
  KeepAlives keep_alives(loop_, calls);
  Kept answer;
  keep_alives.keep_alive(7, loop_.now() + 1s, answer.done());
  EXPECT_FALSE(answer.has_come());
  loop_.run();
  EXPECT_EQ(answer.failure(), Errc::unreachable);
}

TEST_F(EtcdKeepAlives, LeaveAServerThatDoesNotAnswerInTime) {
  const Kept impatient = keep_alive(7, 300ms);
  const Kept patient = keep_alive(8, 1s);
  const std::uint64_t stream = wire().stream(Stream::keep_alive);
  loop_.advance(300ms);
  EXPECT_EQ(impatient.failure(), Errc::unreachable);
  EXPECT_EQ(patient.failure(), Errc::unreachable) << "whose answer would come behind the other's";
  EXPECT_TRUE(wire().streams.at(stream).closed);
  EXPECT_EQ(wire().connects.back(), "b:1");
}

TEST_F(EtcdKeepAlives, DoNotTakeALateAnswerForTheNextOnes) {
  const Kept late = keep_alive(7, 300ms);
  const std::uint64_t stream = wire().stream(Stream::keep_alive);
  loop_.advance(300ms);
  const Kept next = keep_alive(7);
  wire().events().kept_alive(stream, {.id = 7, .seconds = 10});
  loop_.run();
  EXPECT_FALSE(next.has_come());
  answer(7);
  EXPECT_TRUE(next.is_good());
}

TEST_F(EtcdKeepAlives, GiveUpAStreamWhoseAnswersMakeNoSense) {
  const Kept asked = keep_alive(7);
  answer(8);
  EXPECT_EQ(asked.failure(), Errc::unreachable);
  const Kept next = keep_alive(7);
  EXPECT_EQ(wire().streams.size(), 2U);
  answer(7);
  EXPECT_TRUE(next.is_good());
}

TEST_F(EtcdKeepAlives, HaveAnotherStreamAfterOneHasEnded) {
  const Kept cut = keep_alive(7);
  wire().end_stream(wire().stream(Stream::keep_alive), test::cut_off());
  loop_.run();
  EXPECT_EQ(cut.failure(), Errc::unreachable);
  EXPECT_EQ(wire().connects.back(), "b:1");
  const Kept next = keep_alive(7);
  EXPECT_EQ(wire().keep_alives().server, "b:1");
  answer(7);
  EXPECT_TRUE(next.is_good());
}

TEST_F(EtcdKeepAlives, HaveAnotherStreamWhenTheServerIsLeft) {
  const Kept left = keep_alive(7);
  calls_.move_on();
  EXPECT_EQ(left.failure(), Errc::unreachable);
  static_cast<void>(keep_alive(7));
  EXPECT_EQ(wire().keep_alives().server, "b:1");
}

TEST_F(EtcdKeepAlives, AreAnsweredWhenTheyAreClosed) {
  const Kept open = keep_alive(7);
  keep_alives_.close();
  calls_.close();
  EXPECT_EQ(open.failure(), Errc::closed);
  EXPECT_EQ(keep_alive(7).failure(), Errc::closed);
}

}  // namespace
}  // namespace holdfast::etcd
