#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// Who a client is, as others see it. The public id identifies; it gives no power over the client's locks.
struct ClientIdentity {
  std::string id = {};  ///< 32 hexadecimal digits, random
  std::string host = {};
  std::int64_t pid = 0;
  std::string command = {};
  std::string label = {};
};

enum class ClaimMode : std::uint8_t { exclusive, shared, permits };

/// What a name can stand for. Things of different kinds do not meet, even if they have the same name.
enum class LockKind {
  lock,       ///< Mutex, RecursiveMutex, SharedMutex, Once
  semaphore,  ///< Semaphore
  election,   ///< Election
};

/// A wish that a holder let go: why, and how soon.
struct ReleaseRequest {
  std::string reason = {};
  std::chrono::milliseconds within = {};
};

/// One holder of a lock, or one client waiting for it. `reason` and `since` are those of the claim:
/// after a hand-over inside one client they are still those of the client's first holder.
struct ClaimStatus {
  ClientIdentity client = {};
  ClaimMode mode = ClaimMode::exclusive;
  std::uint32_t permits = 1;
  std::uint64_t number = 0;  ///< the store's, of its grant; 0 while it waits
  std::string reason = {};
  std::chrono::system_clock::time_point since = {};  ///< granted, or joined the line
  std::chrono::milliseconds lease_left = {};
};

/// One lock, as the store sees it.
///
///     for (const holdfast::LockStatus& lock : client.list("invoices/")) show_on_screen(lock.name,
///     lock.waiters.size());
struct LockStatus {
  std::string name = {};
  LockKind kind = LockKind::lock;
  /// Of a semaphore: how many permits there are. Else 0.
  std::uint32_t total = 0;
  /// The store's number of the newest grant; 0 if nobody holds. The holder's token is made from it (see Token).
  std::uint64_t number = 0;
  std::vector<ClaimStatus> holders = {};
  std::vector<ClaimStatus> waiters = {};  ///< in the order in which they will be served
};

/// What a store can promise. What it cannot is refused with Errc::unsupported.
struct StoreTraits {
  enum class LeaseScope { claim, session };

  std::string store = {};                      ///< "memory", "redis" ...
  LeaseScope lease_scope = LeaseScope::claim;  ///< whether each lock has a lease, or all of a client share one
  bool has_clock = false;                      ///< the store can tell the time of day
  bool fifo = false;                           ///< waiters are served in the order in which they came
  /// The shortest lease that it gives, as its servers are usually set up: a shorter ttl is rounded up to that, or to
  /// what these servers allow (Hold::lease() says which). Zero: any that LockOptions::min_ttl allows.
  std::chrono::milliseconds min_ttl = {};
  bool fixed_leases = true;               ///< locks with a lease that is not renewed
  bool shared = true;                     ///< shared locks
  bool permits = true;                    ///< semaphores
  bool registers = true;                  ///< registers, and what needs them: Once, Latch, Barrier, Election
  bool lock_delay = true;                 ///< names that stay closed for a while after an unclean end
  bool lists = true;                      ///< list(); else only show() of one name
  bool release_requests = true;           ///< holders can be asked to let go: ask_to_release(), revoke()
  bool durable_tokens = false;            ///< tokens rise also across a restart of the store
  bool shared_between_processes = false;  ///< other processes can reach the same store
  std::string failover_may_lose = {};     ///< in words; empty: nothing
  std::size_t max_value_bytes = 0;        ///< largest value of a register
};

/// How a client is doing.
struct Health {
  enum class Contact { never, good, failing };

  Contact contact = Contact::never;             ///< whether the store answered last time it was asked
  std::chrono::nanoseconds since_contact = {};  ///< since its last answer; zero if there never was one
  std::size_t holds = 0;                        ///< locks held now
  std::size_t at_risk = 0;                      ///< of these, with a failed renewal
  std::size_t waiting = 0;                      ///< calls waiting for a lock now
  std::uint64_t grants = 0;                     ///< locks granted by the store so far
  std::uint64_t local_turns = 0;                ///< locks handed over inside this client so far
  std::uint64_t renewals = 0;                   ///< leases renewed so far
  std::uint64_t failed_renewals = 0;
  std::uint64_t lost = 0;  ///< holds lost so far
};

}  // namespace holdfast
