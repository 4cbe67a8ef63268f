#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "holdfast/export.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"
#include "holdfast/status.hpp"

namespace holdfast {

namespace core {
class ClientCore;
}

/// The outcome of Client::revoke().
enum class Revoked {
  not_held,  ///< nobody held the lock
  let_go,    ///< every holder released or lost it in time
  evicted,   ///< it was taken away from at least one holder
};

/// A process's connection to one store, its identity there, and all locks that it takes through it.
///
/// A program usually has one client. The client renews the leases of everything that is held through it, on a thread of
/// its own.
///
/// If the URL has a password, the client keeps copies of it in memory. A program that must not show it in a core dump
/// or to debuggers of the same user says so itself, for the whole process: prctl(PR_SET_DUMPABLE, 0).
///
/// Thread-safe. After fork(), the child's copy owns nothing: its calls answer Errc::forked and its destructor sends
/// nothing. A child that needs locks opens a client of its own.
///
///     holdfast::Client client("memory:orders");
///     holdfast::Mutex mutex(client, "order-4711");
class HOLDFAST_EXPORT Client {
 public:
  /// Opens the store at `url`, without contacting it yet. Throws Errc::bad_url or Errc::invalid_argument; the message
  /// says what to change.
  explicit Client(std::string_view url, ClientOptions options = {});
  /// A client that was moved from can only be destroyed or assigned to.
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// Calls close().
  ~Client();

  /// Releases everything, waits for the store to confirm it for at most ClientOptions::close_timeout, and ends the
  /// client's threads. It waits for callbacks that are still running for at most the same time again, and then abandons
  /// them. Calls that are waiting answer Errc::closed, and holds that still exist become lost. Closing twice does
  /// nothing.
  void close() noexcept;

  const ClientIdentity& identity() const noexcept;
  StoreTraits traits() const;
  Health health() const;

  /// The locks, semaphores and elections whose names begin with `prefix`, sorted by name, with their holders and
  /// waiters.
  std::vector<LockStatus> list(std::string_view prefix = {}) const;
  /// One lock, semaphore or election. Empty if nobody holds it and nobody waits for it.
  std::optional<LockStatus> show(const LockName& name, LockKind kind = LockKind::lock) const;

  /// Asks the holders to release the lock, and returns at once how many holders were asked. They hear of it through
  /// Hold::on_release_request() and may comply or not. Throws Errc::invalid_argument if `request.within` is negative.
  std::size_t ask_to_release(const LockName& name, const ReleaseRequest& request, LockKind kind = LockKind::lock);
  /// Takes a lock away from its holders; this is an operator's last resort. The next waiter is served, the old holders
  /// are told that they lost it, and a resource that checks tokens refuses them as soon as it has seen the next
  /// holder's token. Holders with a number larger than `up_to` are spared: pass the LockStatus::number that an operator
  /// has looked at, and later holders are not affected. Returns whether there was anything to take away.
  bool evict(const LockName& name, LockKind kind = LockKind::lock,
             std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max());
  /// Asks the holders to release the lock, waits for as long as `request.within` says, and evicts those that still hold
  /// it then. Holders that came after the request are never evicted.
  Revoked revoke(const LockName& name, const ReleaseRequest& request, LockKind kind = LockKind::lock,
                 std::stop_token stop = {});

  /// Descriptors with which a supervisor process can keep this client's locks from being handed on at the moment this
  /// process dies. A store that notices the death of its clients (sqlite:) gives their locks to the next waiter at
  /// once; but as long as any process has copies of these descriptors open, it waits until the leases end. That gives a
  /// supervisor time to end whatever still works under the locks.
  ///
  /// Pass the descriptors to the supervisor through a socket, because exec() and forked children close them. They
  /// belong to the client, so do not close them. Empty where the store knows its clients by their leases alone, and
  /// until the first lock has been acquired. Throws Errc::exhausted when the process has no descriptors left.
  std::vector<int> lifeline();

 private:
  friend class core::ClientCore;

  std::shared_ptr<core::ClientCore> core_;
};

}  // namespace holdfast
