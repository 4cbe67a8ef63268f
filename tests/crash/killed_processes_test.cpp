// Processes that are killed while they use a store, from outside at any moment and from inside SQLite at every single
// one of its writes and syncs: the file stays intact, tokens rise, what was acknowledged is there, and nobody waits for
// the lease of the dead.
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "crash/bare_sqlite.hpp"
#include "crash/factor.hpp"
#include "crash/scratch.hpp"
#include "crash/shared_record.hpp"
#include "crash/store_client.hpp"
#include "crash/victim.hpp"
#include "support/eventually.hpp"

namespace holdfast::crash {
namespace {

/// Even a very busy machine gets on in that time. A fraction of victims_lease: nobody waits for that.
constexpr std::chrono::seconds long_patience{60};

/// A directory with a store that may be used by victims, and what they did to it.
class Scene {
 public:
  Scene() { std::filesystem::create_directory(Victim::database_in(scratch_.path()).parent_path()); }

  std::unique_ptr<Victim> start(std::size_t process, std::uint64_t kill_after = 0) {
    record_->process[process].steps = 0;
    return std::make_unique<Victim>(
        Victim::Orders{.directory = scratch_.path(), .process = process, .kill_after = kill_after, .seed = ++seed_});
  }

  bool makes_progress(std::size_t process) {
    const std::uint64_t steps = record_->process[process].steps;
    return test::eventually(long_patience,
                            [&] { return record_->process[process].steps > steps || record_->complaints > 0; });
  }

  /// What must be true when all victims are dead.
  void inspect() {
    {
      StoreClient client(database());
      inspect_locks(client);
      inspect_registers(client);
    }
    EXPECT_EQ(integrity_of(database()), "ok");
    EXPECT_EQ(record_->complaints, 0U) << record_->first_complaint.data();
  }

  SharedRecord& record() { return *record_; }

 private:
  std::filesystem::path database() const { return Victim::database_in(scratch_.path()); }

  /// They are free at once, although nobody released them and their leases are long.
  void inspect_locks(StoreClient& client) {
    for (std::size_t i = 0; i < SharedRecord::locks; ++i) {
      const std::string name = "lock-" + std::to_string(i);
      const spi::ClaimAnswer answer = client.acquire(name, 1);
      EXPECT_EQ(answer.standing, spi::ClaimAnswer::Standing::granted) << name << " is held by the dead";
      const std::uint64_t token = answer.number << 8U;
      EXPECT_GT(token, record_->lock[i].last_token);
      record_->lock[i].last_token = token;
      client.release(name, 1);
    }
  }

  void inspect_registers(StoreClient& client) {
    for (std::size_t i = 0; i < SharedRecord::processes; ++i) {
      const spi::Versioned found = client.read("victim-" + std::to_string(i));
      EXPECT_GE(found.version, record_->process[i].acknowledged);
      EXPECT_LE(found.version, record_->process[i].asked);
    }
    const spi::Versioned counter = client.read("counter");
    const std::int64_t sum = counter.value.empty() ? 0 : std::stoll(counter.value);
    EXPECT_GE(sum, record_->added_acknowledged);
    EXPECT_LE(sum, record_->added_asked);
  }

  const Scratch scratch_{Scratch::Where::disk};
  const SharedRecordFile record_{Victim::record_in(scratch_.path())};
  std::uint32_t seed_ = 0;
};

TEST(KilledProcesses, LeaveTheStoreIntactAtAnyMoment) {
  Scene scene;
  std::mt19937 random(1);
  const std::uint32_t rounds = 120 * factor();
  for (std::uint32_t round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    std::vector<std::unique_ptr<Victim>> victims;
    const std::size_t count = 2 + random() % (SharedRecord::processes - 1);
    for (std::size_t i = 0; i < count; ++i) victims.push_back(scene.start(i));
    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(scene.makes_progress(i));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));  // the moment is the test
    victims[0]->kill();
    for (std::size_t i = 1; i < count; ++i) ASSERT_TRUE(scene.makes_progress(i)) << "it waits for the dead";
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 5'000));
    for (std::size_t i = 1; i < count; ++i) victims[i]->kill();
    scene.inspect();
  }
  std::cout << rounds << " rounds, " << scene.record().grants << " grants, " << scene.record().added_acknowledged
            << " sums, " << scene.record().doubts << " calls without an answer\n";
}

TEST(KilledProcesses, LeaveTheStoreIntactWhileTheyMakeIt) {
  const std::uint64_t most = 60;
  for (std::uint64_t events = 1; events <= most && !testing::Test::HasFailure(); ++events) {
    Scene scene;
    const auto victim = scene.start(0, events);
    ASSERT_TRUE(victim->has_died(long_patience)) << "event " << events;
    scene.inspect();
  }
}

TEST(KilledProcesses, LeaveTheStoreIntactAfterEveryWriteAndSync) {
  Scene scene;
  std::mt19937 random(1);
  const std::uint32_t kills = 120 * factor();
  for (std::uint32_t kill = 1; kill <= kills && !testing::Test::HasFailure(); ++kill) {
    const std::uint64_t events = kill <= 60 ? kill : random() % 300 + 1;
    const auto bystander = scene.start(1);
    const auto victim = scene.start(0, events);
    ASSERT_TRUE(victim->has_died(long_patience)) << "event " << events;
    ASSERT_TRUE(scene.makes_progress(1)) << "it waits for the dead";
    bystander->kill();
    scene.inspect();
  }
  std::cout << kills << " kills, " << scene.record().grants << " grants, " << scene.record().added_acknowledged
            << " sums, " << scene.record().doubts << " calls without an answer\n";
}

}  // namespace
}  // namespace holdfast::crash
