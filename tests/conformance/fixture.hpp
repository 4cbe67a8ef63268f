#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "holdfast/holdfast.hpp"
#include "stores/fixture.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"
#include "support/rounds.hpp"

namespace holdfast::conformance {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

using test::Capabilities;
using test::Fixture;
using test::FixtureKind;
using test::FixtureKinds;
using test::Server;

/// What the suites are instantiated with: all kinds, or those that can or cannot do something.
FixtureKinds every_store();
FixtureKinds stores_that(bool Capabilities::* can);
FixtureKinds stores_that(bool Capabilities::* can, bool Capabilities::* can_also);
FixtureKinds stores_that_cannot(bool Capabilities::* can);

/// One case against one fresh store.
class StoreTest : public testing::TestWithParam<const FixtureKind*> {
 protected:
  StoreTest() : StoreTest(GetParam()->make) {}
  explicit StoreTest(std::unique_ptr<Fixture> (*make)()) : fixture_(make()) {}

  const Capabilities& can() const { return GetParam()->capabilities; }
  std::string url() const { return fixture_->url(); }
  Server& server() const { return *fixture_->server(); }
  /// Patient: on a busy machine the first contact may take long.
  Client open() const { return open({.connect_timeout = test::patience}); }
  Client open(ClientOptions options) const { return Client(url(), std::move(options)); }

  /// How often a case does something that takes a request or two, if it can be `many` times where that is quick.
  int rounds(int many) const { return can().quick ? many : many / 10; }

  /// A lease that ends soon when nobody renews it.
  milliseconds short_ttl() const { return can().short_ttl; }
  /// A lease that is renewed often, and that a noisy machine still renews in time.
  milliseconds steady_ttl() const { return std::max<milliseconds>(2s, 2 * can().short_ttl); }

  /// Whether `count` clients come to stand in the line of `name`. Waiting threads of one client count once.
  static bool line_becomes(const Client& client, const LockName& name, std::size_t count,
                           LockKind kind = LockKind::lock) {
    return test::eventually([&] {
      const auto status = test::answered([&] { return client.show(name, kind); });
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
      const auto status = test::answered([&] { return client.show(name, kind); });
      return (status ? status->holders.size() : 0) == count;
    });
  }
  /// Whether `name` becomes free of holders and waiters.
  static bool becomes_free(const Client& client, const LockName& name, LockKind kind = LockKind::lock) {
    return test::eventually([&] { return !test::answered([&] { return client.show(name, kind); }); });
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
class SnowflakeConformance : public StoreTest {};
// For stores with one capability, and for those without it.
class NoRegisterConformance : public StoreTest {};
class FifoConformance : public StoreTest {};
class FixedLeaseConformance : public StoreTest {};
class NoFixedLeaseConformance : public StoreTest {};
class SharedMutexConformance : public StoreTest {};
class NoSharedMutexConformance : public StoreTest {};
class SemaphoreConformance : public StoreTest {};
class NoSemaphoreConformance : public StoreTest {};
class BarrierConformance : public StoreTest {};  // its parties take permits, and meet in a register
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
  /// As users open it: how long they wait for a server that is away is what some cases are about.
  Client open(ClientOptions options = {}) const { return StoreTest::open(std::move(options)); }
};
// For stores with two capabilities.
class FixedLeaseSharedMutexConformance : public StoreTest {};
class FixedLeaseSemaphoreConformance : public StoreTest {};
class ProcessSharedMutexConformance : public StoreTest {};
class ProcessSemaphoreConformance : public StoreTest {};
class ProcessLockDelayConformance : public StoreTest {};
class ProcessReleaseRequestConformance : public StoreTest {};
class ProcessSnowflakeConformance : public StoreTest {};
class ServerSnowflakeConformance : public ServerConformance {};

}  // namespace holdfast::conformance
