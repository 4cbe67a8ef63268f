// `etcd:` on one server, and on a cluster of three.

#include "stores/fixture.hpp"
#include "stores/shared_prefix.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct One : EtcdServer {
  static constexpr auto shared_name = "etcd";
  One() : EtcdServer(Options{.servers = 1}) {}
};

struct Three : EtcdServer {
  static constexpr auto shared_name = "etcd_cluster";
  Three() : EtcdServer(Options{.servers = 3}) {}
};

// Leases are granted in whole seconds, and looked at twice a second.
constexpr Capabilities capabilities(int servers) {
  return {.separate_processes = true,
          .fifo = true,
          .has_server = true,
          .keeps_tokens = true,
          .lock_delay = false,
          .quick = false,
          .servers = servers,
          .min_ttl = 2s,
          .shortest_lease = 1s,
          .lease_unit = 1s,
          .short_ttl = 1s,
          .takeover_slack = 2s,
          .steps = 1500};
}

std::string url_at(const std::string& address) { return "etcd://" + address; }

const RegisterFixture one({.name = "etcd",
                           .capabilities = capabilities(1),
                           .make = make_fixture<SharedPrefix<One>>,
                           .make_with_own_server = make_fixture<OwnServers<One>>,
                           .url_at = url_at});
const RegisterFixture three({.name = "etcd_cluster",
                             .capabilities = capabilities(3),
                             .make = make_fixture<SharedPrefix<Three>>,
                             .make_with_own_server = make_fixture<OwnServers<Three>>,
                             .url_at = url_at});

}  // namespace
}  // namespace holdfast::test
