#include "spi/stores.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "support/etcd_server.hpp"
#include "support/redis_server.hpp"
#include "support/shared_servers.hpp"
#include "support/temporary_directory.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::spi_suite {
namespace {

std::string new_name() {
  static std::atomic<int> made = 0;
  return "spi-" + std::to_string(getpid()) + "-" + std::to_string(++made);
}

FreshStore in_a_file(const std::string& scheme) {
  const auto directory = std::make_shared<test::TemporaryDirectory>(test::memory_directory());
  return {scheme + ":" + (directory->path() / "locks.db").string(), directory};
}

/// One server for all cases of a process; each store has a prefix of its own.
FreshStore on_a_redis_server() {
  static const auto server = std::make_shared<test::RedisServer>();
  return {server->url() + "?prefix=" + new_name(), server};
}

/// A prefix of servers that take longer to start than most cases: shared by all processes.
template <class Servers>
FreshStore on_shared_servers(const std::string& name) {
  const std::string url = test::shared_servers(name, []() -> test::RunningServers {
    const auto running = std::make_shared<Servers>();
    return {running->url(), running};
  });
  return {url + "?prefix=" + new_name()};
}

/// As on_a_redis_server(), with a database of its own: the names of plain locks have no prefix.
FreshStore of_plain_locks() {
  static const auto server =
      std::make_shared<test::RedisServer>(test::RedisServer::Options{.arguments = {"--databases", "10000"}});
  static std::atomic<int> made = 0;
  return {server->url() + "/" + std::to_string(++made) + "?layout=plain", server};
}

}  // namespace

const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds = {
      {.scheme = "memory", .make = [] { return FreshStore{"memory:" + new_name()}; }},
      {.scheme = "sqlite", .make = [] { return in_a_file("sqlite"); }, .notices_deaths = true},
      {.scheme = "redis", .make = on_a_redis_server},
      {.scheme = "etcd",
       .make = [] { return on_shared_servers<test::EtcdServer>("etcd"); },
       .lock_delay = false,
       .steps = 1500,
       .shortest_lease = 1s},
      {.scheme = "zookeeper",
       .make = [] { return on_shared_servers<test::ZookeeperServer>("zookeeper"); },
       .sessions = true,
       .lock_delay = false,
       .crowd = 100,
       .steps = 1200},
  };
  return kinds;
}

namespace {

/// Those for which a member of StoreKind has a value.
std::vector<StoreKind> kinds_with(bool StoreKind::* member, bool value) {
  std::vector<StoreKind> kinds = store_kinds();
  std::erase_if(kinds, [&](const StoreKind& kind) { return kind.*member != value; });
  return kinds;
}

}  // namespace

const std::vector<StoreKind>& lease_kinds() {
  static const std::vector<StoreKind> kinds = kinds_with(&StoreKind::sessions, false);
  return kinds;
}

const std::vector<StoreKind>& kinds_with_lock_delay() {
  static const std::vector<StoreKind> kinds = kinds_with(&StoreKind::lock_delay, true);
  return kinds;
}

const std::vector<StoreKind>& polling_kinds() {
  static const std::vector<StoreKind> kinds = {{.scheme = "redis_plain", .make = of_plain_locks}};
  return kinds;
}

std::string name_of(const testing::TestParamInfo<StoreKind>& info) { return info.param.scheme; }

TEST(Stores, AreTheBuiltInBackends) {
  std::vector<std::string> built_in;
  for (const spi::BackendFactory* factory : spi::built_in_backends()) built_in.emplace_back(factory->schemes.front());
  std::vector<std::string> known;
  for (const StoreKind& kind : store_kinds()) known.push_back(kind.scheme);
  std::ranges::sort(built_in);
  std::ranges::sort(known);
  EXPECT_EQ(known, built_in) << "a backend joins with a line in stores.cpp";
}

INSTANTIATE_TEST_SUITE_P(Store, LineOrder, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, SharedMode, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, Permits, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, Requests, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, Leases, testing::ValuesIn(lease_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, LockDelays, testing::ValuesIn(kinds_with_lock_delay()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, Events, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, GrantNumbers, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, AdministrationOf, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, RegistersOf, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, PartNames, testing::ValuesIn(store_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(Store, Closing, testing::ValuesIn(store_kinds()), name_of);

INSTANTIATE_TEST_SUITE_P(PollingStore, Polling, testing::ValuesIn(polling_kinds()), name_of);
INSTANTIATE_TEST_SUITE_P(PollingStore, RegistersOf, testing::ValuesIn(polling_kinds()), name_of);

}  // namespace holdfast::spi_suite
