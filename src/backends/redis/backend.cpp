#include "backends/redis/backend.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/hash_registers.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/layouts/plain_administration.hpp"
#include "backends/redis/layouts/plain_claims.hpp"
#include "backends/redis/layouts/queue_administration.hpp"
#include "backends/redis/layouts/queue_claims.hpp"
#include "backends/redis/layouts/queue_notices.hpp"
#include "backends/redis/redis_url.hpp"
#include "backends/redis/topology/single_server.hpp"
#include "backends/redis/topology/topology.hpp"
#include "base/random.hpp"

namespace holdfast::redis {
namespace {

using spi::Done;

/// Nobody else listens to a channel of this name.
std::string new_client() {
  const base::Random::Seed random = base::Random::fresh_seed();
  constexpr std::size_t bytes = RecordTail::client_bytes / 2;
  static_assert(bytes <= sizeof random);
  return hexadecimal({reinterpret_cast<const char*>(random.data()), bytes});
}

/// One client of a store: a topology, which has the connections, and a layout, which says what is kept in the keys.
class RedisBackend : public spi::Backend {
 public:
  spi::Registers& registers() override { return registers_; }

  void close(Done<> done) override {
    topology_->close();
    registers_.close();
    context_.loop.defer([done = std::move(done)]() mutable { done(spi::Nothing{}); });
  }

 protected:
  RedisBackend(std::unique_ptr<Topology> topology, std::string prefix, const spi::BackendContext& context)
      : context_(context),
        keys_(std::move(prefix)),
        topology_(std::move(topology)),
        registers_(context.loop, *topology_, keys_) {}

  static StoreTraits traits_of_the_server() {
    return {.store = "redis",
            .lease_scope = StoreTraits::LeaseScope::claim,
            .has_clock = true,
            .durable_tokens = true,
            .shared_between_processes = true,
            .failover_may_lose =
                "what was acknowledged and not yet copied: a lock may be granted twice, a register may go back",
            .max_value_bytes = HashRegisters::max_value_bytes};
  }

  const spi::BackendContext context_;
  const Keys keys_;
  const std::unique_ptr<Topology> topology_;
  HashRegisters registers_;
};

class QueueBackend final : public RedisBackend {
 public:
  QueueBackend(std::unique_ptr<Topology> topology, std::string prefix, const spi::BackendContext& context)
      : RedisBackend(std::move(topology), std::move(prefix), context),
        client_(new_client()),
        notices_(context.loop, topology_->channels(), keys_, client_, context.events, [this] { claims_.catch_up(); }),
        claims_(context, *topology_, keys_, notices_, client_),
        administration_(context.loop, *topology_, keys_) {
    topology_->when_server_changed([this] { notices_.catch_up_soon(); });
  }

  spi::Claims& claims() override { return claims_; }
  spi::Administration& administration() override { return administration_; }

  void close(Done<> done) override {
    notices_.close();
    RedisBackend::close(std::move(done));
  }

  StoreTraits traits() const override {
    StoreTraits traits = traits_of_the_server();
    traits.fifo = true;
    return traits;
  }

 private:
  const std::string client_;
  QueueNotices notices_;
  QueueClaims claims_;
  QueueAdministration administration_;
};

class PlainBackend final : public RedisBackend {
 public:
  PlainBackend(std::unique_ptr<Topology> topology, std::string prefix, const spi::BackendContext& context)
      : RedisBackend(std::move(topology), std::move(prefix), context),
        claims_(context, *topology_, keys_),
        administration_(context.loop, *topology_, keys_) {}

  spi::Claims& claims() override { return claims_; }
  spi::Administration& administration() override { return administration_; }

  StoreTraits traits() const override {
    StoreTraits traits = traits_of_the_server();
    traits.store = "redis (layout plain)";
    traits.shared = false;
    traits.permits = false;
    traits.lock_delay = false;
    traits.lists = false;
    traits.release_requests = false;
    return traits;
  }

 private:
  PlainClaims claims_;
  PlainAdministration administration_;
};

}  // namespace

const spi::BackendFactory& factory() {
  static constexpr std::array<std::string_view, 3> schemes = {"redis", "rediss", "redis+unix"};
  static constexpr auto open = [](const base::Url& url, const spi::BackendContext& context) {
    RedisUrl parsed = RedisUrl::parse(url);
    auto topology = std::make_unique<SingleServer>(context.loop, std::move(parsed.server), context.warn);
    std::unique_ptr<spi::Backend> backend;
    if (parsed.layout == RedisUrl::Layout::plain) {
      backend = std::make_unique<PlainBackend>(std::move(topology), std::move(parsed.prefix), context);
    } else {
      backend = std::make_unique<QueueBackend>(std::move(topology), std::move(parsed.prefix), context);
    }
    return backend;
  };
  static constexpr spi::BackendFactory factory = {.name = "redis", .schemes = schemes, .open = open};
  return factory;
}

}  // namespace holdfast::redis
