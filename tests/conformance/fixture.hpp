#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "holdfast/holdfast.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"

namespace holdfast::conformance {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// What a store can do. Cases are chosen by these and never by a backend's name; one case checks that the store's
/// traits say the same.
struct Capabilities {
  bool separate_processes = false;  ///< another process that opens the URL meets the same locks
  bool fifo = false;                ///< clients are served in the order in which they came
  bool has_server = false;          ///< Fixture::server() can be stopped and started
  bool keeps_tokens = false;        ///< tokens rise also across a restart
  bool fixed_leases = true;         ///< a lock can have a lease of its own: not renewed, or extended
  bool shared = true;               ///< it has shared locks
  bool permits = true;              ///< it has semaphores
  bool lock_delay = true;           ///< names can stay closed after an unclean end
  bool lists = true;                ///< it finds locks by what their names begin with
  bool release_requests = true;     ///< holders can be asked to let go
  bool quick = true;                ///< a request takes well below a millisecond
  milliseconds longest_ttl = LockOptions::max_ttl;
  milliseconds short_ttl = 300ms;     ///< for leases that are to end during a test: about the shortest the store gives
  milliseconds takeover_slack = 0ms;  ///< how much longer than its ttl a dead client's lock may stay taken
};

/// The process behind a store, where there is one.
class Server {
 public:
  virtual ~Server() = default;
  /// Ends it; what it keeps on disk stays.
  virtual void stop() = 0;
  /// Starts it again at the same URL, and returns when it answers.
  virtual void start() = 0;
  /// Lets it stand still (SIGSTOP): connections stay, answers do not come.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

/// A store of its own, empty, that nobody else uses; gone when destroyed.
class Fixture {
 public:
  virtual ~Fixture() = default;
  virtual std::string url() const = 0;
  /// Null where Capabilities::has_server is false, and where others use it, too.
  virtual Server* server() { return nullptr; }
};

/// How to make the fixtures of one backend, or of one way to run it.
struct FixtureKind {
  std::string name;  ///< letters, digits and underscores: part of the names of the tests
  Capabilities capabilities;
  std::unique_ptr<Fixture> (*make)();
  /// Where make() gives a part of servers that others use, too: for cases that stop them.
  std::unique_ptr<Fixture> (*make_with_own_server)() = make;
};

/// A namespace-scope object of this type, in fixtures/<backend>.cpp, is all it takes to join the suite.
struct RegisterFixture {
  explicit RegisterFixture(FixtureKind kind);
};

const std::vector<std::unique_ptr<const FixtureKind>>& fixture_kinds();

/// What the suites are instantiated with: all kinds, or those that can or cannot do something.
std::vector<const FixtureKind*> every_store();
std::vector<const FixtureKind*> stores_that(bool Capabilities::* can);
std::vector<const FixtureKind*> stores_that(bool Capabilities::* can, bool Capabilities::* can_also);
std::vector<const FixtureKind*> stores_that_cannot(bool Capabilities::* can);

inline void PrintTo(const FixtureKind* kind, std::ostream* out) { *out << kind->name; }
std::string name_of(const testing::TestParamInfo<const FixtureKind*>& info);

/// One case against one fresh store.
class StoreTest : public testing::TestWithParam<const FixtureKind*> {
 protected:
  StoreTest() : StoreTest(GetParam()->make) {}
  explicit StoreTest(std::unique_ptr<Fixture> (*make)()) : fixture_(make()) {}

  const Capabilities& can() const { return GetParam()->capabilities; }
  std::string url() const { return fixture_->url(); }
  Server& server() const { return *fixture_->server(); }
  Client open(ClientOptions options = {}) const { return Client(url(), std::move(options)); }

  /// How often a case does something that takes a request or two, if it can be `many` times where that is quick.
  int rounds(int many) const { return can().quick ? many : many / 10; }

  /// A lease that ends soon when nobody renews it.
  milliseconds short_ttl() const { return can().short_ttl; }
  /// A lease that is renewed often, and that a noisy machine still renews in time.
  milliseconds steady_ttl() const { return std::max<milliseconds>(1s, can().short_ttl); }

  /// Whether `count` clients come to stand in the line of `name`. Waiting threads of one client count once.
  static bool line_becomes(const Client& client, const LockName& name, std::size_t count,
                           LockKind kind = LockKind::lock) {
    return test::eventually([&] {
      const auto status = client.show(name, kind);
      return (status ? status->waiters.size() : 0) == count;
    });
  }
  /// Whether `count` calls of this client come to wait.
  static bool waiting_becomes(const Client& client, std::size_t count) {
    return test::eventually([&] { return client.health().waiting == count; });
  }
  /// Whether the store comes to list `count` holders of `name`. Readers of one client that share a claim count once.
  static bool holders_become(const Client& client, const LockName& name, std::size_t count,
                             LockKind kind = LockKind::lock) {
    return test::eventually([&] {
      const auto status = client.show(name, kind);
      return (status ? status->holders.size() : 0) == count;
    });
  }
  /// Whether `name` becomes free of holders and waiters.
  static bool becomes_free(const Client& client, const LockName& name, LockKind kind = LockKind::lock) {
    return test::eventually([&] { return !client.show(name, kind).has_value(); });
  }

 private:
  std::unique_ptr<Fixture> fixture_;
};

// For every store.
class MutexConformance : public StoreTest {};
class RecursiveMutexConformance : public StoreTest {};
class HoldConformance : public StoreTest {};
class ClientConformance : public StoreTest {};
class MultiLockConformance : public StoreTest {};
class ElectionConformance : public StoreTest {};
class RegisterConformance : public StoreTest {};
class OnceConformance : public StoreTest {};
class LatchConformance : public StoreTest {};
class AsyncConformance : public StoreTest {};
// For stores with one capability, and for those without it.
class FifoConformance : public StoreTest {};
class FixedLeaseConformance : public StoreTest {};
class NoFixedLeaseConformance : public StoreTest {};
class SharedMutexConformance : public StoreTest {};
class NoSharedMutexConformance : public StoreTest {};
class SemaphoreConformance : public StoreTest {};
class NoSemaphoreConformance : public StoreTest {};
class BarrierConformance : public StoreTest {};  // its parties take permits
class LockDelayConformance : public StoreTest {};
class NoLockDelayConformance : public StoreTest {};
class ListingConformance : public StoreTest {};
class NoListingConformance : public StoreTest {};
class ReleaseRequestConformance : public StoreTest {};
class NoReleaseRequestConformance : public StoreTest {};
class SharedStoreConformance : public StoreTest {};
class PrivateStoreConformance : public StoreTest {};
class ServerConformance : public StoreTest {
 protected:
  ServerConformance() : StoreTest(GetParam()->make_with_own_server) {}
};
// For stores with two capabilities.
class FixedLeaseSharedMutexConformance : public StoreTest {};
class FixedLeaseSemaphoreConformance : public StoreTest {};
class ProcessSharedMutexConformance : public StoreTest {};
class ProcessSemaphoreConformance : public StoreTest {};
class ProcessLockDelayConformance : public StoreTest {};
class ProcessReleaseRequestConformance : public StoreTest {};

}  // namespace holdfast::conformance
