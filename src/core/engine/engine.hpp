#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "core/engine/caller.hpp"
#include "core/engine/cell.hpp"
#include "core/engine/renewals.hpp"
#include "core/engine/user_side.hpp"
#include "holdfast/status.hpp"
#include "spi/backend.hpp"

namespace holdfast::core {

struct EngineOptions {
  ClientIdentity identity = {};
  base::Duration connect_timeout = std::chrono::seconds(5);
  std::uint32_t local_turns = 64;  ///< at most 255
  base::Duration max_local_time = std::chrono::milliseconds(50);
  std::uint32_t max_local_share = 10;      ///< of the ttl: local turns end after ttl / this
  base::Random::Seed seed = {1, 2, 3, 4};  ///< of claim ids and jitter
};

/// All state of one client: its cells, and what they share. Knows no thread, no clock but the loop's, and no store but
/// through the backend interface; so the same code runs in a program and in the simulation.
/// Everything is called under the monitor.
class Engine final : public spi::ClaimEvents {
 public:
  Engine(spi::Loop& loop, UserSide& user, EngineOptions options);
  ~Engine() override;

  /// REQUIRES: called once, before anything else. (The backend needs the engine first: it tells it of events.)
  void attach(std::unique_ptr<spi::Backend> backend);

  /// The cell of a lock or a semaphore, made if there is none. Forgotten when it has nothing to do and nobody keep()s
  /// it.
  Cell& cell(const LockName& name, LockKind kind = LockKind::lock);
  /// Destroys a cell. REQUIRES: it is idle, and nobody keeps it.
  void forget(Cell& cell);
  /// A cell has done what its close() had to do.
  void cell_closed();

  /// Gives everything back, closes the backend, then runs `done`; after `patience` in any case.
  void close(base::Duration patience, base::Task done);
  bool closing() const { return closing_; }

  /// Notes whether the store answered a request.
  void contact(bool good);
  bool contacted() const { return contact_ != Health::Contact::never; }
  Health health() const;

  /// Those who wait for operations now.
  base::IntrusiveList<Caller>& callers() { return callers_; }

  spi::Loop& loop() { return loop_; }
  spi::Claims& claims() { return backend_->claims(); }
  spi::Backend& backend() { return *backend_; }
  const StoreTraits& traits() const { return traits_; }
  /// Whether all claims of this client live and die together.
  bool leases_are_sessions() const { return traits_.lease_scope == StoreTraits::LeaseScope::session; }
  UserSide& user() { return user_; }
  Renewals& renewals() { return renewals_; }
  const EngineOptions& options() const { return options_; }
  const std::shared_ptr<const ClientIdentity>& identity() const { return identity_; }
  spi::ClaimId new_claim_id() { return {random_.next(), random_.next()}; }
  /// `duration`, shortened by a random part of up to a half.
  base::Duration jittered(base::Duration duration);

  struct Counters {
    std::uint64_t grants = 0;
    std::uint64_t local_turns = 0;
    std::uint64_t renewals = 0;
    std::uint64_t failed_renewals = 0;
    std::uint64_t lost = 0;
  };
  Counters& counters() { return counters_; }
  /// Cells that exist: 0 when nothing is going on and nobody keeps a mutex.
  std::size_t cells() const { return locks_.size() + semaphores_.size(); }

  // spi::ClaimEvents
  void granted(const LockName& name, LockKind kind, spi::ClaimId id, const spi::ClaimAnswer& answer) override;
  void check(const LockName& name, LockKind kind, spi::ClaimId id) override;

 private:
  using Cells = std::unordered_map<std::string_view, std::unique_ptr<Cell>>;  ///< by the name that the cell holds

  Cells& cells(LockKind kind) { return kind == LockKind::semaphore ? semaphores_ : locks_; }
  static Cell* find(const Cells& cells, const LockName& name);
  std::vector<Cell*> all_cells() const;
  void close_backend();
  void finish_closing();

  spi::Loop& loop_;
  UserSide& user_;
  EngineOptions options_;
  std::shared_ptr<const ClientIdentity> identity_;
  base::Random random_;
  Renewals renewals_;
  std::unique_ptr<spi::Backend> backend_;
  StoreTraits traits_;
  Cells locks_;
  Cells semaphores_;
  base::IntrusiveList<Caller> callers_;
  Counters counters_;
  Health::Contact contact_ = Health::Contact::never;
  base::Instant last_contact_ = {};
  bool closing_ = false;
  std::size_t cells_to_close_ = 0;
  bool backend_closing_ = false;
  base::Task closed_;
  std::unique_ptr<spi::Timer> close_timer_;
};

}  // namespace holdfast::core
