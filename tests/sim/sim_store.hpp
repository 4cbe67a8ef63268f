#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/memory/store.hpp"
#include "holdfast/name.hpp"
#include "sim/network.hpp"
#include "sim/plan.hpp"
#include "sim/timeline.hpp"

namespace holdfast::sim {

/// The real store of `memory:`, with a clock of its own, behind the network. It survives its restarts.
class SimStore {
 public:
  SimStore(Timeline& timeline, Network& network) : timeline_(timeline), network_(network) {}

  void start(const Plan& plan, const memory::StoreRules& rules);

  /// Executes a request and turns it into its reply. False: the store is down, or was when it was under way.
  bool execute(Message& message);

  /// When leases end by themselves; never, in a store that looks at them only when asked.
  Moment next_expiry() const { return next_expiry_; }
  void expire();

  void stop();
  void restart();
  /// Of the store: messages to an earlier one are lost.
  std::uint32_t life() const { return life_; }

  bool session_leases() const { return session_leases_; }

  /// The number by which messages and the history know a claim.
  std::uint32_t index_of(const spi::ClaimId& id) const;
  spi::ClaimId id_of(std::uint32_t claim) const { return claims_[claim].id; }
  std::uint8_t name_of(std::uint32_t claim) const { return claims_[claim].name; }
  LockKind kind_of(std::uint32_t claim) const { return claims_[claim].kind; }
  std::uint32_t introduce(const spi::ClaimId& id, std::uint8_t client, std::uint32_t life, std::uint8_t name);

  static const LockName& name(std::uint8_t index);
  static std::uint8_t index_of(const LockName& name) { return static_cast<std::uint8_t>(name.text()[0] - 'a'); }

  /// Whether there are no claims, once every lease that ever ran has ended.
  bool empty_in_the_end(Duration longest_lease);
  const memory::StoreModel::Counters& counters() const { return store_->counters(); }

 private:
  spi::ClaimRef ref_to(std::uint32_t claim, std::uint32_t lease) const;

  struct Known {
    spi::ClaimId id;
    std::uint32_t life;
    std::uint8_t client;
    std::uint8_t name;
    Message::Standing standing;
    std::uint64_t number;
    std::uint32_t lease;  ///< in milliseconds
    LockKind kind;
  };

  Instant now() const { return clock_.read(timeline_.now); }
  void acquire(Message& message);
  void renew(Message& message);
  void release(Message& message);
  void downgrade(Message& message);
  void answered(const Message& message, Message::Item& item, const spi::ClaimAnswer& answer);
  void renew_others(const Message& message);
  void tell_about_changes();
  void hint_somebody(std::uint8_t name);
  void push(std::uint32_t claim, spi::milliseconds lease);

  Timeline& timeline_;
  Network& network_;
  std::unique_ptr<memory::StoreModel> store_;
  Clock clock_;
  Waiting waiting_ = Waiting::pushed;
  bool lazy_ = false;
  bool session_leases_ = false;
  bool down_ = false;
  std::uint32_t life_ = 0;
  std::uint32_t poll_interval_ = 0;
  std::uint64_t seed_ = 0;
  std::uint32_t thrown_ = 0;
  Moment next_expiry_ = never;
  std::vector<Known> claims_;
};

}  // namespace holdfast::sim
