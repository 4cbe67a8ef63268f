#include "backends/zookeeper/backend.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "backends/zookeeper/address.hpp"
#include "backends/zookeeper/administration.hpp"
#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/claims.hpp"
#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/registers.hpp"
#include "backends/zookeeper/sessions.hpp"

namespace holdfast::zookeeper {
namespace {

using spi::Done;

/// One client of one ensemble.
class ZookeeperBackend final : public spi::Backend, private Session::Owner {
 public:
  ZookeeperBackend(Address address, const spi::BackendContext& context)
      : loop_(context.loop),
        address_(std::move(address)),
        nodes_(address_.root()),
        calls_(context.loop, address_.shown()),
        sessions_(context.loop, address_, nodes_, *this),
        claims_(context, sessions_, calls_, order_by_name_),
        registers_(context.loop, sessions_, calls_),
        administration_(sessions_, calls_, order_by_name_) {
    calls_.ask_why([this] { return sessions_.why_not_sent(); });
  }
  ~ZookeeperBackend() override { leave(); }

  spi::Claims& claims() override { return claims_; }
  spi::Registers& registers() override { return registers_; }
  spi::Administration& administration() override { return administration_; }

  StoreTraits traits() const override {
    return {.store = "zookeeper",
            .lease_scope = StoreTraits::LeaseScope::session,
            .proves_lease_late = true,
            .has_clock = true,
            .fifo = true,
            .min_ttl = std::chrono::seconds(4),
            .fixed_leases = false,
            .lock_delay = false,
            .durable_tokens = true,
            .shared_between_processes = true,
            .failover_may_lose = "",
            .max_value_bytes = NodeRegisters::max_value_bytes};
  }

  base::Duration release_may_wait() const override { return std::chrono::microseconds(100); }

  void close(Done<> done) override {
    leave();
    loop_.defer([done = std::move(done)]() mutable { done(spi::Nothing{}); });
  }

 private:
  void node_changed(Session& session, const std::string& path) override {
    registers_.node_changed(path);
    claims_.node_changed(session, path);
  }
  void session_resumed(Session& session) override { claims_.session_resumed(session); }
  void session_ended(Session& session) override { claims_.session_ended(session); }

  /// Operations that are under way find their calls answered, and end when their sessions do.
  void leave() {
    if (std::exchange(left_, true)) return;
    claims_.close();
    calls_.fail_all({Errc::closed, "the client's connection to " + address_.shown() + " is closed"});
    registers_.close();
    sessions_.close();
  }

  spi::Loop& loop_;
  const Address address_;
  const Nodes nodes_;
  Calls calls_;
  Sessions sessions_;
  kit::RequestOrder order_by_name_;  ///< of all requests about a name; each leaves when the next may be sent
  NodeClaims claims_;
  NodeRegisters registers_;
  NodeAdministration administration_;
  bool left_ = false;
};

}  // namespace

const spi::BackendFactory& factory() {
  static constexpr std::array<std::string_view, 1> schemes = {"zookeeper"};
  static constexpr auto open = [](const base::Url& url, const spi::BackendContext& context) {
    return std::unique_ptr<spi::Backend>(std::make_unique<ZookeeperBackend>(Address::parse(url), context));
  };
  static constexpr spi::BackendFactory factory = {.name = "zookeeper", .schemes = schemes, .open = open};
  return factory;
}

}  // namespace holdfast::zookeeper
