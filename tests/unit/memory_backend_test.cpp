#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "backends/memory/backend.hpp"
#include "holdfast/error.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::memory {
namespace {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimId;
using spi::Result;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ManualLoop;

constexpr auto granted = ClaimAnswer::Standing::granted;
constexpr auto waiting = ClaimAnswer::Standing::waiting;

ClaimId id(std::uint64_t number) { return {.high = 7, .low = number}; }

/// One client: a loop, what it was told, and the backend.
struct TestClient final : spi::ClaimEvents {
  explicit TestClient(const std::string& url = "memory:test")
      : backend(factory().open(base::Url::parse(url), {.loop = loop, .events = *this})) {}

  void granted(const LockName& name, LockKind, ClaimId claim, const ClaimAnswer& answer) override {
    last_name = name.text();
    last_granted = claim;
    last_answer = answer;
  }
  void check(const LockName&, LockKind, ClaimId claim) override { last_check = claim; }

  /// Calls `start(done)`, and says what `done` was given.
  template <class T, class Start>
  Result<T> ask(Start start) {
    std::optional<Result<T>> result;
    start(spi::Done<T>([&](Result<T> answer) {
      EXPECT_FALSE(result) << "answered twice";
      result.emplace(std::move(answer));
    }));
    EXPECT_FALSE(result) << "answered inside the call";
    loop.run();
    EXPECT_TRUE(result) << "not answered";
    return result ? std::move(*result) : Result<T>(spi::Failure{Errc::store_failed});
  }

  ClaimAnswer acquire(std::uint64_t number, const LockName& name = "name") {
    return ask<ClaimAnswer>([&](auto done) {
             backend->claims().acquire({.name = name, .id = id(number), .lease = seconds(10)}, std::move(done));
           })
        .value();
  }
  bool release(std::uint64_t number, const LockName& name = "name") {
    return ask<bool>([&](auto done) { backend->claims().release({name, LockKind::lock, id(number)}, std::move(done)); })
        .value();
  }
  void close() {
    EXPECT_TRUE(ask<spi::Nothing>([&](auto done) { backend->close(std::move(done)); }).ok());
  }

  std::string last_name;
  std::optional<ClaimId> last_granted;
  std::optional<ClaimId> last_check;
  ClaimAnswer last_answer;
  ManualLoop loop;
  std::unique_ptr<spi::Backend> backend;
};

TEST(MemoryBackend, ArmsFromWhenTheRequestWasSent) {
  TestClient client;
  const Instant sent = client.loop.now();
  const ClaimAnswer answer = client.acquire(1);
  EXPECT_EQ(answer.standing, granted);
  EXPECT_EQ(answer.armed_at, sent);
  client.loop.advance(seconds(1));
  const LockName name = "name";
  const std::vector<spi::ClaimRef> refs = {{name, LockKind::lock, id(1), seconds(10)},
                                           {name, LockKind::lock, id(2), seconds(10)}};
  const auto answers =
      client.ask<std::vector<ClaimAnswer>>([&](auto done) { client.backend->claims().renew(refs, std::move(done)); })
          .value();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].armed_at, sent + seconds(1));
  EXPECT_EQ(answers[1].standing, ClaimAnswer::Standing::absent);
  EXPECT_EQ(answers[1].armed_at, Instant::min());
}

TEST(MemoryBackend, TellsTheNextClientThroughItsOwnLoop) {
  TestClient first;
  TestClient second;
  first.acquire(1);
  EXPECT_EQ(second.acquire(2).standing, waiting);
  EXPECT_TRUE(first.release(1));
  EXPECT_FALSE(second.last_granted) << "not before its loop runs";
  second.loop.run();
  EXPECT_EQ(second.last_granted, id(2));
  EXPECT_EQ(second.last_name, "name");
  EXPECT_EQ(second.last_answer.armed_at, Instant::min());
  EXPECT_FALSE(first.last_granted);
}

TEST(MemoryBackend, TellsItsOwnClientToo) {
  TestClient client;
  client.acquire(1);
  client.acquire(2);
  EXPECT_FALSE(client.last_granted);
  client.release(1);
  EXPECT_EQ(client.last_granted, id(2));
}

TEST(MemoryBackend, KeepsStoresApartByName) {
  TestClient unnamed("memory:");
  TestClient unnamed_too("memory:");
  TestClient named("memory:other");
  unnamed.acquire(1);
  EXPECT_EQ(unnamed_too.acquire(2).standing, waiting);
  EXPECT_EQ(named.acquire(3).standing, granted);
}

TEST(MemoryBackend, DropsTheStoreWithItsLastClient) {
  {
    TestClient first;
    EXPECT_EQ(first.acquire(1).number, 1U);
    TestClient second;
    first.close();
    EXPECT_EQ(second.acquire(2).standing, waiting) << "the claim outlives its client";
    second.close();
  }
  TestClient third;
  EXPECT_EQ(third.acquire(3).number, 1U);
}

TEST(MemoryBackend, RefusesOddUrls) {
  for (const char* url : {"memory://host", "memory:/path", "memory:name?ttl=1"}) {
    try {
      const TestClient client(url);
      ADD_FAILURE() << url;
    } catch (const Error& error) {
      EXPECT_EQ(error.errc(), Errc::bad_url);
      EXPECT_NE(std::string(error.what()).find("write memory:"), std::string::npos) << error.what();
    }
  }
}

TEST(MemoryBackend, AnswersClosedAfterClosing) {
  TestClient client;
  client.close();
  client.close();
  const LockName name = "name";
  const auto answer = client.ask<bool>(
      [&](auto done) { client.backend->claims().release({name, LockKind::lock, id(1)}, std::move(done)); });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, Errc::closed);
}

TEST(MemoryBackend, TellsNobodyWhoHasClosed) {
  TestClient first;
  auto second = std::make_unique<TestClient>();
  first.acquire(1);
  second->acquire(2);
  first.release(1);  // the event is on its way
  second->backend->close([](const Result<>&) {});
  second->loop.run();
  EXPECT_FALSE(second->last_granted);
  EXPECT_EQ(first.acquire(3).standing, waiting);
  second.reset();
  first.loop.advance(seconds(10));
  EXPECT_EQ(first.acquire(4).standing, granted);
}

TEST(MemoryBackend, StopsTellingWhenAnEventMakesTheClientClose) {
  struct Closer final : spi::ClaimEvents {
    void granted(const LockName&, LockKind, ClaimId, const ClaimAnswer&) override {
      ADD_FAILURE() << "told after close()";
    }
    void check(const LockName&, LockKind, ClaimId) override {
      ++checks;
      backend->close([](const Result<>&) {});
    }
    int checks = 0;
    ManualLoop loop;
    std::unique_ptr<spi::Backend> backend;
  } closer;
  closer.backend = factory().open(base::Url::parse("memory:closer"), {.loop = closer.loop, .events = closer});
  TestClient other("memory:closer");
  const LockName a = "a";
  const LockName b = "b";
  closer.backend->claims().acquire({.name = a, .id = id(1), .lease = seconds(10)}, [](const Result<ClaimAnswer>&) {});
  closer.backend->claims().acquire({.name = b, .id = id(2), .lease = seconds(10)}, [](const Result<ClaimAnswer>&) {});
  closer.loop.run();
  for (const LockName& name : {a, b}) {
    other.ask<std::size_t>([&](auto done) {
      other.backend->administration().evict(name, LockKind::lock, spi::Administration::all, std::move(done));
    });
  }
  closer.loop.run();
  EXPECT_EQ(closer.checks, 1);
}

TEST(MemoryBackend, TellsEvictedAndAskedHolders) {
  TestClient holder;
  TestClient administrator;
  holder.acquire(1);
  auto& administration = administrator.backend->administration();
  const ReleaseRequest please = {.reason = "please", .within = seconds(3)};
  const auto asked = administrator.ask<std::size_t>(
      [&](auto done) { administration.ask_to_release("name", LockKind::lock, please, std::move(done)); });
  EXPECT_EQ(asked.value(), 1U);
  holder.loop.run();
  EXPECT_EQ(holder.last_check, id(1));
  EXPECT_EQ(holder.acquire(1).asked_to_release->reason, "please");
  holder.last_check.reset();
  const auto evicted = administrator.ask<std::size_t>(
      [&](auto done) { administration.evict("name", LockKind::lock, spi::Administration::all, std::move(done)); });
  EXPECT_EQ(evicted.value(), 1U);
  holder.loop.run();
  EXPECT_EQ(holder.last_check, id(1));
  const auto locks =
      administrator.ask<std::vector<LockStatus>>([&](auto done) { administration.list("", std::move(done)); });
  EXPECT_TRUE(locks.value().empty());
}

TEST(MemoryBackend, AnswersAWatchWhenAnotherClientWrites) {
  TestClient reader;
  TestClient writer;
  int answered = 0;
  const auto count = [&](const Result<>& result) { answered += result.ok() ? 1 : 100; };
  reader.backend->registers().watch("r", 0, count);
  reader.backend->registers().watch("r", 0, count);
  reader.loop.run();
  EXPECT_EQ(answered, 0);
  writer.ask<std::int64_t>([&](auto done) { writer.backend->registers().add("r", 1, std::move(done)); });
  reader.loop.run();
  EXPECT_EQ(answered, 2);
  reader.backend->registers().watch("r", 0, count);
  reader.loop.run();
  EXPECT_EQ(answered, 3) << "it has changed already";
}

TEST(MemoryBackend, AnswersAWatchAfterAWhileInAnyCase) {
  TestClient client;
  int answered = 0;
  client.backend->registers().watch("r", 0, [&](const Result<>& result) { answered += result.ok() ? 1 : 100; });
  client.loop.advance(milliseconds(600));
  client.backend->registers().watch("r", 0, [&](const Result<>& result) { answered += result.ok() ? 1 : 100; });
  client.loop.advance(milliseconds(399));
  EXPECT_EQ(answered, 0);
  client.loop.advance(milliseconds(1));
  EXPECT_EQ(answered, 1);
  client.loop.advance(milliseconds(600));
  EXPECT_EQ(answered, 2);
}

TEST(MemoryBackend, AnswersWatchesBeforeItHasClosed) {
  TestClient client;
  std::string order;
  client.backend->registers().watch("r", 0, [&](const Result<>& result) {
    order += result.ok() || result.failure().code != Errc::closed ? "?" : "watch ";
  });
  client.backend->close([&](const Result<>&) { order += "close"; });
  client.loop.run();
  client.loop.advance(seconds(2));
  EXPECT_EQ(order, "watch close");
}

TEST(MemoryBackend, SaysWhatItPromises) {
  const StoreTraits traits = TestClient().backend->traits();
  EXPECT_EQ(traits.store, "memory");
  EXPECT_TRUE(traits.has_clock && traits.fifo);
  EXPECT_FALSE(traits.durable_tokens || traits.shared_between_processes);
  TestClient client;
  const auto answer = client.ask<spi::Registers::WriteAnswer>([&](auto done) {
    client.backend->registers().write_if("r", 0, std::string(traits.max_value_bytes + 1, 'x'), std::move(done));
  });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.failure().code, Errc::invalid_argument);
}

/// Clients on threads of their own, each coming and going: for the sanitizers, too.
TEST(MemoryBackend, ExcludesClientsOnDifferentThreads) {
  const TestClient keeper("memory:threads");  // keeps the store
  std::atomic<int> inside = 0;
  int unguarded = 0;
  constexpr int turns = 300;
  constexpr std::uint64_t threads = 4;
  const auto work = [&](std::uint64_t thread) {
    std::uint64_t number = thread * turns * 10;
    for (int turn = 0; turn < turns;) {
      TestClient client("memory:threads");
      for (int i = 0; i < 10; ++i, ++turn) {
        ++number;
        const ClaimAnswer answer = client.acquire(number);
        const auto patience = std::chrono::steady_clock::now() + seconds(60);
        while (answer.standing != granted && client.last_granted != id(number)) {
          if (!client.loop.run()) std::this_thread::yield();
          ASSERT_LT(std::chrono::steady_clock::now(), patience);
        }
        EXPECT_EQ(++inside, 1);
        ++unguarded;
        --inside;
        EXPECT_TRUE(client.release(number));
      }
      client.close();
    }
  };
  std::vector<std::thread> running;
  for (std::uint64_t thread = 1; thread <= threads; ++thread) running.emplace_back(work, thread);
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(unguarded, static_cast<int>(threads) * turns);
}

}  // namespace
}  // namespace holdfast::memory
