#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include "sim/network.hpp"
#include "sim/sim_loop.hpp"
#include "sim/sim_store.hpp"
#include "spi/backend.hpp"

namespace holdfast::sim {

/// Mistakes of a backend that the checker must notice.
struct BackendMistakes {
  bool counts_from_reply = false;  ///< a lease is counted from when the reply came
  bool trusts_hints = false;       ///< a hint is taken for a grant
};

/// One client's connection to the simulated store.
class SimBackend final : public spi::Backend, private spi::Claims, private spi::Registers, private spi::Administration {
 public:
  struct Place {
    Timeline& timeline;
    Network& network;
    SimStore& store;
    SimLoop& loop;
    spi::ClaimEvents& events;
    std::uint8_t client;
    std::uint32_t life;
  };
  SimBackend(const Place& place, BackendMistakes mistakes)
      : place_(place), mistakes_(mistakes), timer_(place.loop, [this] { give_up(); }) {}

  spi::Claims& claims() override { return *this; }
  spi::Registers& registers() override { return *this; }
  spi::Administration& administration() override { return *this; }
  StoreTraits traits() const override;
  base::Duration release_may_wait() const override { return std::chrono::microseconds(100); }
  void close(spi::Done<> done) override;

  // For the world.

  void reply_arrived(const Message& message);
  void push_arrived(const Message& message);
  std::size_t unanswered() const { return pending_.size(); }

 private:
  using AnyDone = std::variant<spi::Done<spi::ClaimAnswer>, spi::Done<bool>, spi::Done<std::vector<spi::ClaimAnswer>>>;

  struct Pending {
    std::uint32_t request;
    Errc failure;
    Instant sent_at;
    Instant fails_at;
    Request kind;
    std::uint8_t count;  ///< of claims
    std::array<std::uint32_t, Message::most_items> claims;
    AnyDone done;
  };

  void acquire(const spi::ClaimRequest& request, spi::Done<spi::ClaimAnswer> done) override;
  void release(const spi::ClaimRef& claim, spi::Done<bool> done) override;
  void renew(std::span<const spi::ClaimRef> claims, spi::Done<std::vector<spi::ClaimAnswer>> done) override;

  void downgrade(const spi::ClaimRef& claim, spi::Done<spi::ClaimAnswer> done) override;

  // The core does not use these here.
  void read(const LockName& name, spi::Done<spi::Versioned> done) override;
  void write_if(const LockName& name, std::uint64_t expected, std::string value, spi::Done<WriteAnswer> done) override;
  void add(const LockName& name, std::int64_t amount, spi::Done<std::int64_t> done) override;
  void watch(const LockName& name, std::uint64_t seen, spi::Done<> done) override;
  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

  std::uint32_t new_message(Request kind);
  void add_item(std::uint32_t message, const spi::ClaimRef& claim);
  void send(std::uint32_t message, milliseconds lease, AnyDone done);
  void give_up();
  void fail(Pending& pending, Errc code);
  void set_timer();
  void note(What what, const Message::Item& item, Request kind, std::uint8_t standing);
  spi::ClaimAnswer answer_of(const Message::Item& item, Instant sent_at) const;

  const Place place_;
  const BackendMistakes mistakes_;
  std::vector<Pending> pending_;
  std::uint32_t requests_ = 0;
  bool closed_ = false;
  spi::Timer timer_;
};

}  // namespace holdfast::sim
