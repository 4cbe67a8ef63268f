// Clients that send each other messages and notice that one has gone: real sockets, and time that passes when the test
// says so.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "backends/sqlite/mailbox.hpp"
#include "backends/sqlite/neighbours.hpp"
#include "support/polling_loop.hpp"
#include "support/temporary_directory.hpp"

namespace holdfast::sqlite {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

class SqliteMailbox : public testing::Test {
 protected:
  /// `client` opens its mailbox.
  void open(ClientNumber client) {
    const ForkGate::Use use;
    open_mailboxes.try_emplace(client, loop, mailboxes, client, [this, client](const Message& message) {
      received.push_back(std::to_string(client) + ": " + message.name);
    });
  }
  void close(ClientNumber client) { open_mailboxes.erase(client); }
  void send(ClientNumber client, const Texts& names) {
    std::vector<Message> messages;
    for (const std::string& name : names) messages.push_back({.kind = Message::Kind::changed, .name = name});
    const ForkGate::Use use;
    mailboxes.tell(client, messages);
  }

  const test::TemporaryDirectory directory;
  test::PollingLoop loop;
  const Mailboxes mailboxes{(directory.path() / "mailboxes").string()};
  std::map<ClientNumber, Mailbox> open_mailboxes;
  Texts received;
};

TEST_F(SqliteMailbox, ReceivesWhatOthersSendInOrder) {
  open(7);
  open(8);
  send(7, {"a", "b"});
  send(8, {"c"});
  EXPECT_TRUE(loop.poll_until([&] { return received.size() == 3; }));
  std::sort(received.begin(), received.end());
  EXPECT_EQ(received, (Texts{"7: a", "7: b", "8: c"}));
}

TEST_F(SqliteMailbox, IgnoresWhatIsNoMessage) {
  open(7);
  {
    const ForkGate::Use use;
    const PrivateDescriptor connection = mailboxes.connect(7);
    ASSERT_TRUE(connection);
    EXPECT_EQ(::send(connection.get(), "hello", 5, MSG_NOSIGNAL), 5);
  }
  send(7, {"a"});
  EXPECT_TRUE(loop.poll_until([&] { return !received.empty(); }));
  EXPECT_EQ(received, Texts{"7: a"});
}

TEST_F(SqliteMailbox, LeavesNothingBehind) {
  open(7);
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "mailboxes" / "7"));
  close(7);
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "mailboxes" / "7"));
  EXPECT_EQ(loop.watched(), 0U);
  send(7, {"into the void"});
}

TEST_F(SqliteMailbox, ForgetsConnectionsThatAreClosed) {
  open(7);
  for (const char* name : {"a", "b", "c"}) send(7, {name});
  EXPECT_TRUE(loop.poll_until([&] { return received.size() == 3 && loop.watched() == 1; }));
}

TEST_F(SqliteMailbox, ListensAgainAfterTheSystemHasRefusedToWatchIt) {
  loop.refuses_to_watch = true;
  open(7);
  send(7, {"a"});
  loop.poll(10ms);
  EXPECT_TRUE(received.empty());
  loop.refuses_to_watch = false;
  loop.advance(100ms);
  EXPECT_TRUE(loop.poll_until([&] { return !received.empty(); }));
  EXPECT_EQ(received, Texts{"7: a"});
}

TEST_F(SqliteMailbox, ClosesAConnectionThatCannotBeWatched) {
  open(7);
  const ForkGate::Use use;
  const PrivateDescriptor connection = mailboxes.connect(7);
  ASSERT_TRUE(connection);
  loop.refuses_to_watch = true;
  loop.poll(10s);
  char byte = 0;
  EXPECT_EQ(::recv(connection.get(), &byte, 1, 0), 0) << "the other side has closed it";
}

class SqliteNeighbours : public SqliteMailbox {
 protected:
  SqliteNeighbours() : lifelines_(lifelines_in((directory.path() / "alive").string())) {}
  ~SqliteNeighbours() override {
    const ForkGate::Use use;
    Lifelines::Handle(std::move(lifelines_));
  }

  void live(ClientNumber client) {
    const ForkGate::Use use;
    EXPECT_TRUE((*lifelines_).take(client));
  }
  void live_and_open(ClientNumber client) {
    live(client);
    open(client);
  }
  Texts told_now() {
    loop.poll(10ms);
    return std::exchange(told, {});
  }

  static constexpr spi::ClaimId first = {.high = 1, .low = 1};
  static constexpr spi::ClaimId second = {.high = 2, .low = 2};
  const LockName a{"a"};
  const LockName b{"b"};
  Texts told;

 private:
  static Lifelines::Handle lifelines_in(const std::string& path) {
    const ForkGate::Use use;
    return Lifelines::in(path);
  }
  Lifelines::Handle lifelines_;

 protected:
  Neighbours neighbours{loop, mailboxes, *lifelines_, [this](const LockName& name, LockKind, spi::ClaimId id) {
                          told.push_back(name.text() + std::to_string(id.low));
                        }};
};

TEST_F(SqliteNeighbours, TellTheClaimsBehindAClientThatHasGone) {
  live_and_open(7);
  neighbours.watch(a, LockKind::lock, first, {7});
  neighbours.watch(b, LockKind::lock, second, {7});
  EXPECT_TRUE(told_now().empty());
  close(7);
  EXPECT_TRUE(loop.poll_until([&] { return told.size() == 2; }));
  EXPECT_EQ(told, (Texts{"a1", "b2"}));
}

TEST_F(SqliteNeighbours, TellAClaimOnceWhenSeveralHaveGone) {
  live_and_open(7);
  live_and_open(8);
  neighbours.watch(a, LockKind::lock, first, {7, 8});
  close(7);
  EXPECT_TRUE(loop.poll_until([&] { return !told.empty(); }));
  close(8);
  told_now();
  EXPECT_TRUE(told_now().empty()) << "it asks, and the answer says for whom it waits now";
}

TEST_F(SqliteNeighbours, AreNotWatchedForClaimsThatDoNotWaitAnyMore) {
  live_and_open(7);
  neighbours.watch(a, LockKind::lock, first, {7});
  neighbours.forget(first);
  close(7);
  EXPECT_TRUE(told_now().empty());
}

TEST_F(SqliteNeighbours, AreOthersWhenAClaimMovesUp) {
  live_and_open(7);
  live_and_open(8);
  neighbours.watch(a, LockKind::lock, first, {8});
  neighbours.watch(a, LockKind::lock, first, {7});
  close(8);
  EXPECT_TRUE(told_now().empty());
  close(7);
  EXPECT_TRUE(loop.poll_until([&] { return !told.empty(); }));
}

TEST_F(SqliteNeighbours, ThatAreDeadAreToldAtOnce) {
  neighbours.watch(a, LockKind::lock, first, {9});
  EXPECT_EQ(told, Texts{"a1"});
}

TEST_F(SqliteNeighbours, ThatLiveButCannotBeReachedAreLookedAtSoon) {
  live(9);
  neighbours.watch(a, LockKind::lock, first, {9});
  loop.advance(99ms);
  EXPECT_TRUE(told.empty());
  loop.advance(1ms);
  EXPECT_EQ(told, Texts{"a1"});
}

TEST_F(SqliteNeighbours, ThatCannotBeWatchedAreLookedAtSoon) {
  live_and_open(7);
  loop.refuses_to_watch = true;
  neighbours.watch(a, LockKind::lock, first, {7});
  EXPECT_TRUE(told.empty());
  loop.advance(100ms);
  EXPECT_EQ(told, Texts{"a1"});
  loop.refuses_to_watch = false;
  neighbours.watch(a, LockKind::lock, first, {7});
  close(7);
  EXPECT_TRUE(loop.poll_until([&] { return told.size() == 2; })) << "it is watched now";
}

TEST_F(SqliteNeighbours, ShareOneConnectionAndKeepOnlyAFew) {
  constexpr ClientNumber many = 20;
  for (ClientNumber client = 1; client <= many; ++client) {
    live_and_open(client);
    neighbours.watch(a, LockKind::lock, {.high = 1, .low = static_cast<std::uint64_t>(client)}, {client});
    neighbours.watch(b, LockKind::lock, {.high = 2, .low = static_cast<std::uint64_t>(client)}, {client});
  }
  loop.poll(10ms);
  // A listener and the two ends of one connection for each.
  EXPECT_EQ(loop.watched(), static_cast<std::size_t>(3 * many));
  for (ClientNumber client = 1; client <= many; ++client) {
    neighbours.forget({.high = 1, .low = static_cast<std::uint64_t>(client)});
    neighbours.forget({.high = 2, .low = static_cast<std::uint64_t>(client)});
  }
  EXPECT_TRUE(loop.poll_until([&] { return loop.watched() == many + 2 * 8; }));
}

}  // namespace
}  // namespace holdfast::sqlite
