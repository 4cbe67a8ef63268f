#include "backends/redis/backend.hpp"

#include <sys/random.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "backends/redis/address.hpp"
#include "backends/redis/hash_registers.hpp"
#include "backends/redis/inbox.hpp"
#include "backends/redis/keys.hpp"
#include "backends/redis/queue_administration.hpp"
#include "backends/redis/queue_claims.hpp"
#include "backends/redis/record.hpp"
#include "backends/redis/requests.hpp"

namespace holdfast::redis {
namespace {

using spi::Done;

/// Nobody else listens to a channel of this name.
std::string new_client() {
  std::array<unsigned char, RecordTail::client_bytes / 2> random = {};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    throw Error(Errc::exhausted, "the system has no random numbers");
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string client;
  for (const unsigned char byte : random) {
    client += digits[byte >> 4U];
    client += digits[byte & 15U];
  }
  return client;
}

/// One client of one server: what it asks, what it is told, and the layout of what it keeps there.
class RedisBackend final : public spi::Backend {
 public:
  RedisBackend(Address address, const spi::BackendContext& context)
      : loop_(context.loop),
        address_(std::move(address)),
        keys_(address_.prefix),
        client_(new_client()),
        requests_(context.loop, address_),
        registers_(context.loop, requests_, keys_),
        inbox_(context.loop, address_, keys_, client_, context.events, registers_, [this] { claims_.catch_up(); }),
        claims_(context, requests_, keys_, inbox_, client_),
        administration_(context.loop, requests_, keys_) {
    registers_.attach(inbox_);
  }

  spi::Claims& claims() override { return claims_; }
  spi::Registers& registers() override { return registers_; }
  spi::Administration& administration() override { return administration_; }

  StoreTraits traits() const override {
    return {.store = "redis",
            .lease_scope = StoreTraits::LeaseScope::claim,
            .has_clock = true,
            .fifo = true,
            .durable_tokens = true,
            .shared_between_processes = true,
            .failover_may_lose =
                "what was acknowledged and not yet copied: a lock may be granted twice, a register may go back",
            .max_value_bytes = HashRegisters::max_value_bytes};
  }

  void close(Done<> done) override {
    requests_.close();
    registers_.close();
    inbox_.close();
    loop_.defer([done = std::move(done)]() mutable { done(spi::Nothing{}); });
  }

 private:
  spi::Loop& loop_;
  const Address address_;
  const Keys keys_;
  const std::string client_;
  Requests requests_;
  HashRegisters registers_;
  Inbox inbox_;
  QueueClaims claims_;
  QueueAdministration administration_;
};

}  // namespace

const spi::BackendFactory& factory() {
  static constexpr std::array<std::string_view, 3> schemes = {"redis", "rediss", "redis+unix"};
  static constexpr auto open = [](const spi::Url& url, const spi::BackendContext& context) {
    return std::unique_ptr<spi::Backend>(std::make_unique<RedisBackend>(Address::parse(url), context));
  };
  static constexpr spi::BackendFactory factory = {.name = "redis", .schemes = schemes, .open = open};
  return factory;
}

}  // namespace holdfast::redis
