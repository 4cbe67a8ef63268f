#include "backends/redis/backend.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "backends/redis/connection/eviction.hpp"
#include "backends/redis/connection/pipeline.hpp"
#include "backends/redis/connection/subscriber.hpp"
#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/hash_registers.hpp"
#include "backends/redis/layouts/keys.hpp"
#include "backends/redis/layouts/plain_administration.hpp"
#include "backends/redis/layouts/plain_claims.hpp"
#include "backends/redis/layouts/queue_administration.hpp"
#include "backends/redis/layouts/queue_claims.hpp"
#include "backends/redis/layouts/queue_notices.hpp"
#include "backends/redis/redis_url.hpp"
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

/// One client of one server: what it asks, and what it is told. Layouts differ in what they keep there.
class RedisBackend : public spi::Backend {
 public:
  spi::Registers& registers() override { return registers_; }

  void close(Done<> done) override {
    pipeline_.close();
    registers_.close();
    subscriber_.close();
    context_.loop.defer([done = std::move(done)]() mutable { done(spi::Nothing{}); });
  }

 protected:
  RedisBackend(RedisUrl url, const spi::BackendContext& context)
      : context_(context),
        url_(std::move(url)),
        keys_(url_.prefix),
        client_(new_client()),
        tls_setup_(context.loop, url_.server),
        pipeline_(context.loop, url_.server, tls_setup_),
        subscriber_(context.loop, url_.server, tls_setup_),
        registers_(context.loop, pipeline_, subscriber_, keys_) {
    if (context_.warn) pipeline_.when_first_up([this] { warn_about_eviction(pipeline_, context_.warn); });
  }

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
  const RedisUrl url_;
  const Keys keys_;
  const std::string client_;
  TlsSetup tls_setup_;
  Pipeline pipeline_;
  Subscriber subscriber_;
  HashRegisters registers_;
};

class QueueBackend final : public RedisBackend {
 public:
  QueueBackend(RedisUrl url, const spi::BackendContext& context)
      : RedisBackend(std::move(url), context),
        notices_(context.loop, subscriber_, keys_, client_, context.events, [this] { claims_.catch_up(); }),
        claims_(context, pipeline_, keys_, notices_, client_),
        administration_(context.loop, pipeline_, keys_) {}

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
  QueueNotices notices_;
  QueueClaims claims_;
  QueueAdministration administration_;
};

class PlainBackend final : public RedisBackend {
 public:
  PlainBackend(RedisUrl url, const spi::BackendContext& context)
      : RedisBackend(std::move(url), context),
        claims_(context, pipeline_, keys_),
        administration_(context.loop, pipeline_, keys_) {}

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
    if (parsed.layout == RedisUrl::Layout::plain) {
      return std::unique_ptr<spi::Backend>(std::make_unique<PlainBackend>(std::move(parsed), context));
    }
    return std::unique_ptr<spi::Backend>(std::make_unique<QueueBackend>(std::move(parsed), context));
  };
  static constexpr spi::BackendFactory factory = {.name = "redis", .schemes = schemes, .open = open};
  return factory;
}

}  // namespace holdfast::redis
