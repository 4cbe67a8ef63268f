#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace holdfast {

/// How other clients see a client. The id identifies the client and gives nobody power over its locks.
struct ClientIdentity {
  std::string id = {};  ///< 32 hexadecimal digits, random
  std::string host = {};
  std::int64_t pid = 0;
  std::string command = {};
  std::string label = {};
};

enum class ClaimMode : std::uint8_t { exclusive, shared, permits };

/// The kinds of things that have a name. Things of different kinds are independent of each other, even if they have the
/// same name.
enum class LockKind {
  lock,       ///< Mutex, RecursiveMutex, SharedMutex, Once
  semaphore,  ///< Semaphore
  election,   ///< Election
};

/// A request to a holder to release its lock: why, and within what time.
struct ReleaseRequest {
  std::string reason = {};
  std::chrono::milliseconds within = {};
};

/// A holder of a lock, or a client that waits for it. `reason` and `since` are those of the claim: after a hand-over
/// inside one client they are still those of the first holder.
struct ClaimStatus {
  ClientIdentity client = {};
  ClaimMode mode = ClaimMode::exclusive;
  std::uint32_t permits = 1;
  std::uint64_t number = 0;  ///< the store's number of this grant; 0 while the client waits
  std::string reason = {};
  std::chrono::system_clock::time_point since = {};  ///< when it was granted, or joined the line
  std::chrono::milliseconds lease_left = {};
};

/// A lock, as the store sees it.
///
///     for (const holdfast::LockStatus& lock : client.list("invoices/")) {
///       show_on_screen(lock.name, lock.waiters.size());
///     }
struct LockStatus {
  std::string name = {};
  LockKind kind = LockKind::lock;
  /// The number of permits of a semaphore. 0 for everything else.
  std::uint32_t total = 0;
  /// The store's number of the newest grant, from which the holder's token is made (see Token). 0 if nobody holds the
  /// lock.
  std::uint64_t number = 0;
  std::vector<ClaimStatus> holders = {};
  std::vector<ClaimStatus> waiters = {};  ///< in the order in which they will be served
};

/// What a store supports and promises. Requests for what it does not support are refused with Errc::unsupported.
struct StoreTraits {
  enum class LeaseScope { claim, session };

  std::string store = {};                      ///< "memory", "redis" ...
  LeaseScope lease_scope = LeaseScope::claim;  ///< whether each lock has a lease, or a client has one for all
  /// Whether an answer to a renewal proves only that the lease ran some time ago, and not that it begins anew. A holder
  /// then never believes in the whole of it for long: Hold::remaining() is about two thirds of the ttl after a renewal.
  bool proves_lease_late = false;
  bool has_clock = false;  ///< the store can tell the time of day
  bool fifo = false;       ///< waiters are served in the order of their arrival
  /// The shortest lease that the store gives with the usual configuration of its servers. A shorter ttl is rounded up
  /// to this, or to what the actual servers allow; Hold::lease() tells which. Zero: any ttl from LockOptions::min_ttl
  /// on.
  std::chrono::milliseconds min_ttl = {};
  bool fixed_leases = true;               ///< locks with a lease that is not renewed
  bool shared = true;                     ///< shared locks
  bool permits = true;                    ///< semaphores
  bool registers = true;                  ///< registers, and what needs them: Once, Latch, Barrier, Election
  bool lock_delay = true;                 ///< LockOptions::lock_delay
  bool lists = true;                      ///< Client::list(); otherwise only show() of one name
  bool release_requests = true;           ///< Client::ask_to_release() and revoke()
  bool durable_tokens = false;            ///< tokens keep rising across a restart of the store
  bool shared_between_processes = false;  ///< other processes can reach the same store
  std::string failover_may_lose = {};     ///< in words; empty if a failover loses nothing
  std::size_t max_value_bytes = 0;        ///< the largest value of a register
};

/// The state of a client.
struct Health {
  enum class Contact { never, good, failing };

  Contact contact = Contact::never;             ///< whether the store answered the last request
  std::chrono::nanoseconds since_contact = {};  ///< since the last answer; zero if there was none
  std::size_t holds = 0;                        ///< locks that are held now
  std::size_t at_risk = 0;                      ///< those of them whose last renewal failed
  std::size_t waiting = 0;                      ///< calls that are waiting for a lock now
  std::uint64_t grants = 0;                     ///< locks granted by the store so far
  std::uint64_t local_turns = 0;                ///< locks handed over inside this client so far
  std::uint64_t renewals = 0;                   ///< leases renewed so far
  std::uint64_t failed_renewals = 0;
  std::uint64_t lost = 0;  ///< holds lost so far
};

}  // namespace holdfast
