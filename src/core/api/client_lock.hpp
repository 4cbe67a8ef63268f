#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "core/runtime/client_core.hpp"
#include "core/runtime/thread_holds.hpp"
#include "holdfast/client.hpp"

namespace holdfast::core {

/// One lock or semaphore as one client uses it: the client, the cell of the name, and how it is asked for. All that
/// stands between Mutex, RecursiveMutex, SharedMutex, Semaphore or Once and their ClientCore.
class ClientLock {
 public:
  /// Throws Errc::invalid_argument for bad options.
  ClientLock(const Client& client, const LockName& name, LockOptions options, LockKind kind = LockKind::lock);
  ~ClientLock() { core_->let_go_of(cell_); }
  ClientLock(const ClientLock&) = delete;
  ClientLock& operator=(const ClientLock&) = delete;

  ClientCore& core() const { return *core_; }
  Cell& cell() const { return cell_; }
  const LockName& name() const { return cell_.name(); }
  const LockOptions& options() const { return options_; }

  // By handle.

  /// Waits as long as it takes; throws if the lock cannot be acquired.
  Hold acquire(const spi::Mode& mode, const std::stop_token& stop) const;
  /// Empty if busy or timed out; throws for everything else. A wait of zero or less tries once.
  std::optional<Hold> try_acquire(const spi::Mode& mode, base::Duration wait, const std::stop_token& stop) const;
  void async_acquire(const spi::Mode& mode, base::Duration wait, AcquireCallback callback, std::stop_token stop) const;

  // By thread.

  /// This thread's entry for the lock, or null. Throws Errc::closed or Errc::forked if there is one, its hold is over
  /// and the client is gone.
  ThreadHolds::Entry* find_entry() const;
  /// The same, for unlocking: reports to the error hook if there is none.
  ThreadHolds::Entry* find_entry_to_unlock() const noexcept;
  void add_entry(Hold hold) const { ThreadHolds::mine().add(cell_.serial, std::move(hold)); }
  /// This thread's hold. Throws Errc::not_held if it has none.
  const Hold& hold_of_this_thread() const;

 private:
  const LockOptions options_;
  const std::shared_ptr<ClientCore> core_;
  Cell& cell_;
};

/// Whether an operation that may wait for `wait` waits at all, and for how long.
struct Patience {
  spi::WhenBusy when_busy;
  base::Duration limit;
};
/// A wait of zero or less tries once.
Patience patience_for(base::Duration wait);

/// Throws Errc::invalid_argument if `wait` is negative.
void check_wait(const LockName& name, base::Duration wait);

/// Throws Errc::invalid_argument with what to change.
void check(const LockOptions& options);

}  // namespace holdfast::core
