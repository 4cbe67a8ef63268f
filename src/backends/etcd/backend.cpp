#include "backends/etcd/backend.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "backends/etcd/address.hpp"
#include "backends/etcd/administration.hpp"
#include "backends/etcd/claim_tracker.hpp"
#include "backends/etcd/claims.hpp"
#include "backends/etcd/keys.hpp"
#include "backends/etcd/leases.hpp"
#include "backends/etcd/registers.hpp"
#include "backends/etcd/server_calls.hpp"
#include "backends/etcd/watches.hpp"
#include "base/random.hpp"
#include "kit/request_order.hpp"

namespace holdfast::etcd {
namespace {

using spi::Done;

/// One client of one cluster.
class EtcdBackend final : public spi::Backend {
 public:
  EtcdBackend(Address address, const spi::BackendContext& context)
      : address_(std::move(address)),
        keys_(address_.prefix),
        calls_(context.loop, address_),
        watches_(context.loop, calls_),
        order_(context.loop),
        leases_(context.loop, calls_),
        tracker_(context, calls_, watches_, leases_, keys_),
        claims_(context.loop, calls_, keys_, order_, leases_, tracker_,
                base::Random(base::Random::fresh_seed()).next()),
        registers_(context.loop, calls_, keys_, watches_),
        administration_(context.loop, calls_, keys_, order_) {}

  spi::Claims& claims() override { return claims_; }
  spi::Registers& registers() override { return registers_; }
  spi::Administration& administration() override { return administration_; }

  StoreTraits traits() const override {
    return {.store = "etcd",
            .lease_scope = StoreTraits::LeaseScope::session,
            .has_clock = false,
            .fifo = true,
            .min_ttl = std::chrono::seconds(2),
            .lock_delay = false,
            .durable_tokens = true,
            .shared_between_processes = true,
            .max_value_bytes = EtcdRegisters::max_value_bytes};
  }

  base::Duration release_may_wait() const override { return std::chrono::microseconds(100); }

  void close(Done<> done) override {
    tracker_.close();
    claims_.close();
    watches_.close();
    const std::vector<std::int64_t> unused = leases_.close();
    const bool first = !calls_.closed();
    calls_.close();  // which answers all that wait for a call
    order_.close();
    registers_.close();
    calls_.give_back(first ? unused : std::vector<std::int64_t>(), std::move(done));
  }

 private:
  const Address address_;
  const Keys keys_;
  ServerCalls calls_;
  Watches watches_;
  kit::RequestOrder order_;  ///< keeps requests about one line in order, which calls do not
  Leases leases_;
  ClaimTracker tracker_;
  EtcdClaims claims_;
  EtcdRegisters registers_;
  EtcdAdministration administration_;
};

}  // namespace

const spi::BackendFactory& factory() {
  static constexpr std::array<std::string_view, 2> schemes = {"etcd", "etcds"};
  static constexpr auto open = [](const base::Url& url, const spi::BackendContext& context) {
    return std::unique_ptr<spi::Backend>(std::make_unique<EtcdBackend>(Address::parse(url), context));
  };
  static constexpr spi::BackendFactory factory = {.name = "etcd", .schemes = schemes, .open = open};
  return factory;
}

}  // namespace holdfast::etcd
