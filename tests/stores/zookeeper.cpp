// `zookeeper:` on one server, and on an ensemble of three.

#include "stores/fixture.hpp"
#include "stores/shared_prefix.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::test {
namespace {

using namespace std::chrono_literals;

struct One : ZookeeperServer {
  static constexpr auto shared_name = "zookeeper";
};

/// Many cases use it at once, so it may be slow: it does not give its leader up because of that.
struct SharedThree : ZookeeperEnsemble {
  static constexpr auto shared_name = "zookeeper_ensemble";
  SharedThree() : ZookeeperEnsemble({.sync_limit = 200}) {}
};

// Sessions are rounded up to the next tick, and looked at once in a tick. What a client knows of its own is older than
// elsewhere, so on a busy machine a lease must not be too short. The C library frees what it never
// allocated when a reply ends too early or has a wrong length (docs/backends/zookeeper.md).
constexpr Capabilities capabilities(int servers) {
  return {.separate_processes = true,
          .fifo = true,
          .has_server = true,
          .keeps_tokens = true,
          .fixed_leases = false,
          .lock_delay = false,
          .proves_lease_late = true,
          .reads_anything = false,
          .quick = false,
          .servers = servers,
          .longest_ttl = 24h * 7,
          .min_ttl = 4s,
          .shortest_lease = 2 * milliseconds(ZookeeperServer::tick_milliseconds),
          .short_ttl = 1500ms,
          .takeover_slack = 2 * milliseconds(ZookeeperServer::tick_milliseconds),
          .crowd = 100,
          .steps = 1200};
}

std::string url_at(const std::string& address) { return "zookeeper://" + address; }

const RegisterFixture one({.name = "zookeeper",
                           .capabilities = capabilities(1),
                           .make = make_fixture<SharedPrefix<One>>,
                           .make_with_own_server = make_fixture<OwnServers<One>>,
                           .url_at = url_at});
const RegisterFixture three({.name = "zookeeper_ensemble",
                             .capabilities = capabilities(3),
                             .make = make_fixture<SharedPrefix<SharedThree>>,
                             .make_with_own_server = make_fixture<OwnServers<ZookeeperEnsemble>>,
                             .url_at = url_at});

}  // namespace
}  // namespace holdfast::test
