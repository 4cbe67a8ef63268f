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

/// What became of a revocation.
enum class Revoked {
  not_held,  ///< nobody held it
  let_go,    ///< all holders gave it back, or lost it, in time
  evicted,   ///< it was taken away from at least one
};

/// One process's membership in a store: a connection, an identity, and all the locks taken through it.
///
/// A program usually has one. It renews the leases of everything held through it, on a thread of its own.
/// Thread-safe. After fork() the child's copy owns nothing: its calls answer Errc::forked and its destructor
/// sends nothing; the child opens a client of its own.
///
///     holdfast::Client client("memory:orders");
///     holdfast::Mutex mutex(client, "order-4711");
class HOLDFAST_EXPORT Client {
 public:
  /// Opens `url`. Contacts nobody yet. Throws Errc::bad_url or Errc::invalid_argument with what to change.
  explicit Client(std::string_view url, ClientOptions options = {});
  /// Moved-from clients can only be destroyed or assigned to.
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// Calls close().
  ~Client();

  /// Gives everything back, waits for the store's confirmation for at most ClientOptions::close_timeout, and ends the
  /// client's threads; for callbacks that still run it waits for as long once more, and then leaves them behind.
  /// Waiting calls answer Errc::closed; holds that are still out become lost. Idempotent.
  void close() noexcept;

  const ClientIdentity& identity() const noexcept;
  StoreTraits traits() const;
  Health health() const;

  /// The locks, semaphores and elections whose names begin with `prefix`, by name: who holds them, who waits.
  std::vector<LockStatus> list(std::string_view prefix = {}) const;
  /// One lock, semaphore or election; empty if nobody holds it and nobody waits.
  std::optional<LockStatus> show(const LockName& name, LockKind kind = LockKind::lock) const;

  /// Asks the holders to let go, and returns at once how many there are: they hear it through
  /// Hold::on_release_request(), and may do so or not. Throws Errc::invalid_argument if `request.within` is negative.
  std::size_t ask_to_release(const LockName& name, const ReleaseRequest& request, LockKind kind = LockKind::lock);
  /// Takes a lock away from its holders, as an operator's last resort: the next waiter is served, the old holder is
  /// told, and a resource that checks tokens refuses the old one as soon as it has seen the next. True if there was
  /// anything to take away. Spares holders with a larger number than `up_to`, such as the LockStatus::number that an
  /// operator has looked at.
  bool evict(const LockName& name, LockKind kind = LockKind::lock,
             std::uint64_t up_to = std::numeric_limits<std::uint64_t>::max());
  /// Asks first, waits for as long as `request.within` says, and evicts whoever has not let go by then; never a holder
  /// that came later.
  Revoked revoke(const LockName& name, const ReleaseRequest& request, LockKind kind = LockKind::lock,
                 std::stop_token stop = {});

  /// Descriptors that a supervisor keeps open to hold on to this client's locks when this process dies. A store that
  /// sees its clients die (sqlite:) gives their locks away at once; but while any process has copies of these open, it
  /// waits for the end of their leases. So a supervisor can first end whatever works under the locks. Pass them to it
  /// through a socket: they are closed by exec() and in forked children. They belong to the client; do not close them.
  /// Empty where clients are known by their leases alone, and until the first lock is acquired. Throws Errc::exhausted
  /// when the process has no descriptors left.
  std::vector<int> lifeline();

 private:
  friend class core::ClientCore;

  std::shared_ptr<core::ClientCore> core_;
};

}  // namespace holdfast
