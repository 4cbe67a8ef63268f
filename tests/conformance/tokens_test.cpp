// Fencing tokens: larger for every later holder, however the lock came to it.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <vector>

#include "conformance/fixture.hpp"

namespace holdfast::conformance {
namespace {

using test::Background;
using test::eventually;
using test::Recorder;

/// The tokens of `rounds` holds of `threads` threads on each of `clients`, in the order in which they were held. All
/// threads stand in line before the first is served.
std::vector<Token> tokens_of_contenders(const std::string& url, std::deque<Client>& clients, std::size_t threads,
                                        int rounds) {
  Recorder<Token> tokens;
  Client starter(url);
  Hold start = Mutex(starter, "contended").acquire();
  std::vector<std::jthread> running;
  for (Client& client : clients) {
    for (std::size_t thread = 0; thread < threads; ++thread) {
      running.emplace_back([&] {
        Mutex mutex(client, "contended");
        for (int round = 0; round < rounds; ++round) {
          const std::scoped_lock lock(mutex);
          tokens.add(mutex.hold().token());
        }
      });
    }
  }
  for (const Client& client : clients) {
    EXPECT_TRUE(eventually([&] { return client.health().waiting == threads; }));
  }
  start = {};
  running.clear();
  return tokens.take();
}

void expect_strictly_increasing(const std::vector<Token>& tokens) {
  const auto fault = std::adjacent_find(tokens.begin(), tokens.end(), std::greater_equal<>());
  if (fault == tokens.end()) return;
  ADD_FAILURE() << "grant " << fault - tokens.begin() << " had token " << to_string(*fault) << " and the next one "
                << to_string(*(fault + 1));
}

// M38
TEST_P(MutexConformance, EveryGrantHasALargerToken) {
  Client one = open();
  Client two = open();
  std::vector<Token> tokens;
  for (test::Rounds rounds(100); rounds.next();) {
    for (Client* client : {&one, &two}) {
      Hold hold = Mutex(*client, "mine").acquire();
      tokens.push_back(hold.token());
      hold.release();
    }
  }
  EXPECT_GT(tokens.front(), Token());
  expect_strictly_increasing(tokens);
}

// M38
TEST_P(MutexConformance, ATokenDoesNotChangeWhileTheLockIsHeld) {
  Client client = open();
  const Hold hold = Mutex(client, "mine", {.ttl = steady_ttl()}).acquire();
  const Token token = hold.token();
  ASSERT_TRUE(eventually([&] { return client.health().renewals >= 2; }));
  EXPECT_EQ(hold.token(), token);
}

// M38, over local hand-overs
TEST_P(MutexConformance, EveryLocalTurnHasALargerToken) {
  std::deque<Client> clients;
  clients.emplace_back(url());
  const auto tokens = tokens_of_contenders(url(), clients, 8, 50);
  EXPECT_EQ(tokens.size(), 400u);
  expect_strictly_increasing(tokens);
  EXPECT_GT(clients[0].health().local_turns, 0u);
  EXPECT_LT(clients[0].health().grants, 400u);
}

// M38, over local hand-overs and between clients
TEST_P(MutexConformance, TokensIncreaseOverAllContenders) {
  std::deque<Client> clients;
  for (int number = 0; number < 3; ++number) clients.emplace_back(url());
  const auto tokens = tokens_of_contenders(url(), clients, 4, 40);
  EXPECT_EQ(tokens.size(), 480u);
  expect_strictly_increasing(tokens);
}

// M38, without local hand-overs
TEST_P(MutexConformance, WithoutLocalTurnsEveryTokenIsTheStoresOwn) {
  std::deque<Client> clients;
  for (int number = 0; number < 2; ++number) clients.emplace_back(url(), ClientOptions{.local_turns = 0});
  const auto tokens = tokens_of_contenders(url(), clients, 4, 25);
  EXPECT_EQ(tokens.size(), 200u);
  expect_strictly_increasing(tokens);
  for (const Client& client : clients) {
    EXPECT_EQ(client.health().local_turns, 0u);
    EXPECT_EQ(client.health().grants, 100u);
  }
  const Hold hold = Mutex(clients[0], "contended").acquire();
  EXPECT_EQ(clients[1].show("contended").value().number, hold.token().value());
}

TEST_P(MutexConformance, ATokenIsTheStoresNumberAndTheLocalTurn) {
  Client client = open();
  Mutex mutex(client, "mine");
  Hold first = mutex.acquire();
  const std::uint64_t number = client.show("mine").value().number;
  EXPECT_EQ(first.token().value(), number << 8);
  Background second([&](std::stop_token stop) { return mutex.acquire(stop); });
  ASSERT_TRUE(waiting_becomes(client, 1));
  first.release();
  const Hold hold = second.take();
  EXPECT_GT(hold.token(), first.token());
  EXPECT_EQ(hold.token().value() >> 8, client.show("mine").value().number);
}

// M38
TEST_P(MutexConformance, ABrokenHoldsTokenIsSmallerThanTheNext) {
  Client client = open();
  Client other = open();
  const Hold old = Mutex(client, "mine").acquire();
  ASSERT_TRUE(other.evict("mine"));
  EXPECT_GT(Mutex(other, "mine").acquire().token(), old.token());
}

// M38
TEST_P(FixedLeaseConformance, AnEndedHoldsTokenIsSmallerThanTheNext) {
  Client client = open();
  Client other = open();
  const Hold old = Mutex(client, "mine", {.ttl = short_ttl(), .lease = LeaseKind::fixed}).acquire();
  EXPECT_GT(Mutex(other, "mine").acquire().token(), old.token());
}

// M58: nothing of a lock stays but the certainty that its next token is larger.
TEST_P(MutexConformance, AForgottenLockRemembersItsTokens) {
  Client client = open();
  Client other = open();
  Hold hold = Mutex(client, "mine").acquire();
  const Token token = hold.token();
  ASSERT_EQ(hold.release(), Released::released);
  ASSERT_TRUE(becomes_free(other, "mine"));
  client.close();
  for (test::Rounds rounds(500); rounds.next();) {
    static_cast<void>(Mutex(other, "filler/" + std::to_string(rounds.done())).acquire());
  }
  EXPECT_GT(Mutex(other, "mine").acquire().token(), token);
}

}  // namespace
}  // namespace holdfast::conformance
