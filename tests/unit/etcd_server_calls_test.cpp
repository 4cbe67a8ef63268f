#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "backends/etcd/server_calls.hpp"
#include "support/manual_loop.hpp"
#include "unit/etcd_fake_wire.hpp"

namespace holdfast::etcd {
namespace {

using namespace std::chrono_literals;
using test::AnswerOf;
using test::FakeWire;
using Replies = AnswerOf<TransactionReply>;
using Kind = FakeWire::Kind;
using Servers = std::vector<std::string>;

Transaction reading(const std::string& key) {
  Transaction transaction;
  transaction.then.emplace_back(Range{.key = key});
  return transaction;
}
Transaction writing(const std::string& key) {
  Transaction transaction;
  transaction.then.emplace_back(Put{.key = key, .value = "value"});
  transaction.about = key;
  return transaction;
}

/// Counts how often it hears that another server is used.
struct Moves final : StreamListener {
  void kept_alive(std::uint64_t, const LeaseReply&) override {}
  void watched(std::uint64_t, WatchReply) override {}
  void stream_ended(std::uint64_t) override { ++ended; }
  void moved() override { ++count; }
  int count = 0;
  int ended = 0;
};

class EtcdServerCalls : public testing::Test {
 protected:
  EtcdServerCalls() {
    FakeWire::reset();
    address_.servers = {"a:1", "b:1", "c:1"};
  }

  ServerCalls& calls() {
    if (!calls_) calls_ = std::make_unique<ServerCalls>(loop_, address_, &FakeWire::prepare);
    return *calls_;
  }
  static FakeWire& wire() { return *FakeWire::latest; }
  Replies transact(Transaction transaction, base::Duration patience = 10s) {
    Replies answer;
    calls().transact(std::move(transaction), loop_.now() + patience, answer.done());
    loop_.run();
    return answer;
  }
  void answer_first(std::uint64_t term = 1) {
    const std::size_t count = wire().first().transactions.size();
    wire().answer_first(
        std::vector(count, TransactionReply{.succeeded = true, .term = term, .outcomes = std::vector<Outcome>(1)}));
    loop_.run();
  }
  void fail_first(CallStatus status) {
    wire().fail_first(std::move(status));
    loop_.run();
  }

  test::ManualLoop loop_;
  Address address_;
  std::unique_ptr<ServerCalls> calls_;
};

// --- before there is a connection -----------------------------------------------------------------------------------

TEST_F(EtcdServerCalls, LoadsNothingBeforeItIsUsed) {
  static_cast<void>(calls());
  loop_.run();
  EXPECT_EQ(FakeWire::preparations, 0);
  const Replies answer = transact(reading("key"));
  EXPECT_EQ(FakeWire::preparations, 1);
  EXPECT_EQ(wire().connects, Servers{"a:1"});
  EXPECT_EQ(wire().first().timeout, 10s);
  EXPECT_FALSE(answer.has_come());
  answer_first();
  EXPECT_TRUE(answer.is_good());
}

TEST_F(EtcdServerCalls, SaysWhyItCannotBePreparedAndTriesAgainForTheNextCall) {
  FakeWire::cannot_prepare = spi::Failure{Errc::bad_url, "cannot use the file"};
  const Replies refused = transact(reading("key"));
  EXPECT_EQ(refused.failure(), Errc::bad_url);
  FakeWire::cannot_prepare.reset();
  const Replies answer = transact(reading("key"));
  answer_first();
  EXPECT_TRUE(answer.is_good());
}

TEST_F(EtcdServerCalls, DoesNotWaitForItsPreparationsForLongerThanACallIsPatient) {
  Replies patient;
  Replies impatient;
  calls().transact(reading("key"), loop_.now() + 10s, patient.done());
  calls().transact(reading("key"), loop_.now() + 1s, impatient.done());
  loop_.pause(2s);  // all the time the module is being loaded
  loop_.run();
  EXPECT_EQ(impatient.failure(), Errc::unreachable);
  answer_first();
  EXPECT_TRUE(patient.is_good());
}

TEST_F(EtcdServerCalls, ReadsItsFilesAgainAfterACertificateWasRefused) {
  address_.servers = {"a:1"};
  address_.uses_tls = true;
  FakeWire::files = WireTls{.authorities = "old"};
  const Replies refused = transact(reading("key"));
  fail_first({.code = 14, .message = "failed to connect to all addresses; certificate verify failed", .sent = false});
  EXPECT_EQ(refused.failure(), Errc::access_denied);
  const Replies answer = transact(reading("key"));
  EXPECT_EQ(FakeWire::preparations, 2);
  EXPECT_EQ(wire().connects.size(), 1U) << "they have not changed";
  fail_first({.code = 14, .message = "failed to connect to all addresses; certificate verify failed", .sent = false});
  FakeWire::files = WireTls{.authorities = "new"};
  const Replies good = transact(reading("key"));
  EXPECT_EQ(wire().connects.size(), 2U);
  answer_first();
  EXPECT_TRUE(good.is_good());
}

// --- servers --------------------------------------------------------------------------------------------------------

TEST_F(EtcdServerCalls, AsksAnotherServerIfOneRefusesToBeConnectedTo) {
  Moves moves;
  calls().listen(moves);
  const Replies answer = transact(writing("key"));
  moves.count = 0;
  fail_first(test::refused());
  EXPECT_EQ(wire().connects, (Servers{"a:1", "b:1"}));
  EXPECT_EQ(moves.count, 1);
  ASSERT_EQ(wire().first().server, "b:1");
  answer_first();
  EXPECT_TRUE(answer.is_good());
}

TEST_F(EtcdServerCalls, GivesACallUpWhenAllServersRefuseToBeConnectedTo) {
  const Replies answer = transact(writing("key"));
  fail_first(test::refused());
  fail_first(test::refused());
  EXPECT_FALSE(answer.has_come());
  fail_first(test::refused());
  EXPECT_EQ(answer.failure(), Errc::unreachable) << "nothing was sent, so nothing has happened";
  EXPECT_TRUE(wire().calls.empty());
}

TEST_F(EtcdServerCalls, DoesNotRepeatWhatMayHaveArrived) {
  const Replies written = transact(writing("key"));
  const Replies read = transact(reading("key"));
  fail_first(test::cut_off());
  fail_first(test::cut_off());
  EXPECT_EQ(written.failure(), Errc::in_doubt);
  EXPECT_EQ(read.failure(), Errc::unreachable);
  EXPECT_EQ(wire().connects, (Servers{"a:1", "b:1"})) << "the second one is about the server that was left already";
}

TEST_F(EtcdServerCalls, LeavesAServerThatDoesNotAnswerInTime) {
  const Replies answer = transact(writing("key"));
  fail_first(test::timed_out());
  EXPECT_EQ(answer.failure(), Errc::in_doubt);
  EXPECT_EQ(wire().connects.back(), "b:1");
}

TEST_F(EtcdServerCalls, StaysWithTheOnlyServer) {
  address_.servers = {"a:1"};
  const Replies answer = transact(writing("key"));
  wire().silent = {"a:1"};
  loop_.advance(5s);
  EXPECT_EQ(wire().calls.size(), 1U);
  fail_first(test::cut_off());
  EXPECT_EQ(wire().connects, Servers{"a:1"});
}

TEST_F(EtcdServerCalls, PassesOverAServerThatIsSilentAndTakesItsCallsAlong) {
  const Replies written = transact(writing("key"));
  const Replies read = transact(reading("key"));
  wire().silent = {"a:1"};
  loop_.advance(399ms);
  EXPECT_EQ(wire().connects, Servers{"a:1"});
  loop_.advance(1ms);
  EXPECT_EQ(wire().connects, (Servers{"a:1", "b:1"}));
  ASSERT_EQ(wire().calls.size(), 2U);
  EXPECT_EQ(wire().first().server, "b:1");
  answer_first();
  answer_first();
  EXPECT_TRUE(written.is_good());
  EXPECT_TRUE(read.is_good());
}

TEST_F(EtcdServerCalls, GivesEachServerMoreTimeWhenAllWereSilent) {
  const Replies answer = transact(reading("key"), 60s);
  wire().silent = {"a:1", "b:1", "c:1"};
  loop_.advance(1200ms);
  EXPECT_EQ(wire().connects.size(), 4U);
  EXPECT_LT(wire().times_for_an_address.at(2), wire().times_for_an_address.at(3));
  loop_.advance(799ms);
  EXPECT_EQ(wire().connects.size(), 4U);
  loop_.advance(1ms);
  EXPECT_EQ(wire().connects.size(), 5U);
  answer_first();
  EXPECT_TRUE(answer.is_good());
  calls().move_on();
  const Replies next = transact(reading("key"), 60s);
  loop_.advance(400ms);
  EXPECT_EQ(wire().connects.size(), 7U) << "since one has answered, each has the usual time again";
}

TEST_F(EtcdServerCalls, HasNoLimitForConnectingOnceTheServerHasAnswered) {
  const Replies first = transact(reading("key"));
  answer_first();
  const Replies answer = transact(reading("key"));
  wire().silent = {"a:1"};
  loop_.advance(5s);
  EXPECT_EQ(wire().connects, Servers{"a:1"});
}

TEST_F(EtcdServerCalls, MovesOnWhenAStreamOfThePresentConnectionBreaks) {
  Moves moves;
  calls().listen(moves);
  const Replies first = transact(reading("key"));
  answer_first();
  const std::uint64_t stream = calls().next_number();
  calls().wire()->open(stream, Stream::watch);
  wire().end_stream(stream, test::cut_off());
  loop_.run();
  EXPECT_EQ(moves.ended, 1);
  EXPECT_EQ(wire().connects, (Servers{"a:1", "b:1"}));
  wire().events().stream_ended(stream, test::cut_off());
  loop_.run();
  EXPECT_EQ(wire().connects.size(), 2U) << "it is not of this connection";
}

// --- answers --------------------------------------------------------------------------------------------------------

TEST_F(EtcdServerCalls, IgnoresAnswersThatNobodyWaitsFor) {
  const Replies answer = transact(reading("key"));
  const std::uint64_t number = wire().first().number;
  answer_first();
  wire().events().replied(number, {}, std::vector{TransactionReply{}});
  wire().events().replied(number, test::cut_off(), {});
  loop_.run();
  EXPECT_TRUE(answer.is_good());
  EXPECT_EQ(wire().connects, Servers{"a:1"});
}

TEST_F(EtcdServerCalls, RefusesAnswersThatMakeNoSense) {
  const Replies too_few = transact(reading("key"));
  wire().answer_first(std::vector{TransactionReply{.succeeded = true}});
  const Replies not_succeeded = transact(reading("key"));
  wire().answer_first(std::vector{TransactionReply{}});
  const Replies something_else = transact(reading("key"));
  wire().answer_first(TokenReply{"token"});
  loop_.run();
  EXPECT_EQ(too_few.failure(), Errc::store_failed);
  EXPECT_EQ(not_succeeded.failure(), Errc::store_failed);
  EXPECT_EQ(something_else.failure(), Errc::store_failed);
}

TEST_F(EtcdServerCalls, KnowsTheLargestTerm) {
  EXPECT_EQ(calls().term(), 0U);
  static_cast<void>(transact(reading("key")));
  answer_first(5);
  static_cast<void>(transact(reading("key")));
  answer_first(4);
  EXPECT_EQ(calls().term(), 5U);
}

TEST_F(EtcdServerCalls, CountsTheirPatienceFromTheirTurnIfTheServerAnswers) {
  static_cast<void>(transact(reading("key")));
  const base::Instant began = loop_.now();
  loop_.pause(50ms);
  EXPECT_EQ(calls().deadline_after(began, 1s), began + 1s);
  answer_first();
  EXPECT_EQ(calls().deadline_after(began, 1s), began + 1050ms);
  loop_.pause(100ms);
  EXPECT_EQ(calls().deadline_after(began, 1s), began + 1s);
}

TEST_F(EtcdServerCalls, SendsNothingForWhichThereIsNoTimeLeft) {
  static_cast<void>(transact(reading("key")));
  answer_first();
  const Replies late = transact(reading("key"), 0s);
  EXPECT_EQ(late.failure(), Errc::unreachable);
  EXPECT_TRUE(wire().calls.empty());
}

TEST_F(EtcdServerCalls, AnswersEverythingWhenItIsClosed) {
  const Replies sent = transact(reading("key"));
  static_cast<void>(transact(writing("x")));
  static_cast<void>(transact(writing("y")));
  const Replies gathered = transact(writing("z"));
  calls().close();
  EXPECT_EQ(sent.failure(), Errc::closed);
  EXPECT_EQ(gathered.failure(), Errc::closed);
  EXPECT_EQ(transact(reading("key")).failure(), Errc::closed);
  EXPECT_EQ(calls().wire(), nullptr);
  wire().answer_first(std::vector<Outcome>(1), 1);
  loop_.run();
}

TEST_F(EtcdServerCalls, MayEndBeforeAnAnswerIsHeard) {
  const Replies answer = transact(reading("key"));
  wire().answer_first(std::vector<Outcome>(1), 1);
  calls_.reset();
  loop_.run();
  EXPECT_FALSE(answer.has_come());
}

TEST_F(EtcdServerCalls, GivesLeasesBackAfterItWasClosed) {
  static_cast<void>(transact(reading("key")));
  answer_first();
  calls().close();
  AnswerOf<spi::Nothing> given_back;
  calls().give_back({7, 8}, given_back.done());
  ASSERT_EQ(wire().calls.size(), 2U);
  EXPECT_EQ(wire().first().kind, Kind::revoke_lease);
  EXPECT_EQ(wire().first().lease, 7);
  wire().answer_first(LeaseReply{.id = 7});
  loop_.run();
  EXPECT_FALSE(given_back.has_come());
  wire().fail_first(test::timed_out());
  loop_.run();
  EXPECT_TRUE(given_back.is_good()) << "it ends by itself";
}

// --- transactions that go together ----------------------------------------------------------------------------------

TEST_F(EtcdServerCalls, SendsTransactionsTogetherWhileOthersAreUnderWay) {
  static_cast<void>(transact(writing("a")));
  static_cast<void>(transact(writing("b")));
  const Replies c = transact(writing("c"));
  const Replies d = transact(writing("d"));
  const Replies c_again = transact(writing("c"));
  ASSERT_EQ(wire().calls.size(), 2U);
  answer_first();
  ASSERT_EQ(wire().calls.size(), 2U);
  EXPECT_EQ(wire().calls.at(1).transactions.size(), 2U) << "not two about the same";
  answer_first();
  answer_first();
  EXPECT_TRUE(c.is_good());
  EXPECT_TRUE(d.is_good());
  EXPECT_FALSE(c_again.has_come());
  answer_first();
  EXPECT_TRUE(c_again.is_good());
}

TEST_F(EtcdServerCalls, DoesNotLetTransactionsWaitForLong) {
  for (const char* const key : {"a", "b", "c"}) static_cast<void>(transact(writing(key)));
  EXPECT_EQ(wire().calls.size(), 2U);
  loop_.advance(2ms);
  EXPECT_EQ(wire().calls.size(), 3U);
}

TEST_F(EtcdServerCalls, RepeatsEachByItselfIfTheServerComplainsOfOneOfThem) {
  static_cast<void>(transact(writing("a")));
  static_cast<void>(transact(writing("b")));
  const Replies c = transact(writing("c"));
  const Replies d = transact(writing("d"));
  answer_first();
  answer_first();
  ASSERT_EQ(wire().first().transactions.size(), 2U);
  fail_first(test::lost_lease());
  ASSERT_EQ(wire().calls.size(), 2U);
  EXPECT_EQ(wire().first().transactions.size(), 1U);
  fail_first(test::lost_lease());
  answer_first();
  EXPECT_EQ(c.failure(), Errc::lost);
  EXPECT_TRUE(d.is_good());
}

// --- login ----------------------------------------------------------------------------------------------------------

class EtcdLogin : public EtcdServerCalls {
 protected:
  EtcdLogin() {
    address_.user = "user";
    address_.password = "password";
  }
  void log_in(const std::string& token) {
    ASSERT_EQ(wire().first().kind, Kind::authenticate);
    wire().answer_first(TokenReply{token});
    loop_.run();
  }
};

TEST_F(EtcdLogin, ComesBeforeEverythingElse) {
  const Replies one = transact(reading("one"));
  const Replies other = transact(reading("other"));
  ASSERT_EQ(wire().calls.size(), 1U);
  EXPECT_EQ(wire().first().user, "user");
  EXPECT_EQ(calls().wire(), nullptr) << "no stream without a token";
  log_in("token");
  EXPECT_EQ(wire().token, "token");
  EXPECT_NE(calls().wire(), nullptr);
  answer_first();
  answer_first();
  EXPECT_TRUE(one.is_good());
  EXPECT_TRUE(other.is_good());
}

TEST_F(EtcdLogin, ThatIsRefusedIsWhatCallsAreAnswered) {
  const Replies answer = transact(reading("key"));
  fail_first({.code = 3, .message = "etcdserver: authentication failed, invalid user ID or password"});
  EXPECT_EQ(answer.failure(), Errc::access_denied);
  EXPECT_EQ(answer.why().find("password'"), std::string::npos);
}

TEST_F(EtcdLogin, IsRepeatedOnceForACallWhoseTokenIsNotKnown) {
  const Replies answer = transact(writing("key"));
  log_in("first");
  fail_first(test::unknown_token());
  EXPECT_TRUE(wire().token.empty()) << "it would be refused here, too";
  log_in("second");
  EXPECT_EQ(wire().token, "second");
  fail_first(test::unknown_token());
  EXPECT_EQ(answer.failure(), Errc::access_denied);
}

}  // namespace
}  // namespace holdfast::etcd
