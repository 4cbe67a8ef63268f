#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/mailbox.hpp"
#include "backends/sqlite/neighbours.hpp"
#include "backends/sqlite/store_logic.hpp"
#include "base/lifetime.hpp"
#include "holdfast/status.hpp"
#include "kit/register_watches.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// This client among the others of its store. With its first claim it enrolls: it takes a number, a lifeline by which
/// others know that it lives, and a mailbox to which they send messages. It also watches the clients for whom its claims
/// wait. Under the client's monitor.
class Membership {
 public:
  /// REQUIRES: all outlive it.
  Membership(spi::Loop& loop, spi::ClaimEvents& events, kit::RegisterWatches& watches, Database& database);
  /// From here on others see that it has gone. REQUIRES: no ForkGate::Use.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// The number of this client, which it takes if it has none. Without an identity nobody can be shown who it is yet.
  /// Called inside a transaction, which may be undone and tried again. Throws SqlFailure, Refusal.
  ClientNumber enroll(StoreLogic& store, const ClientIdentity* identity);
  /// The last step of a client that leaves by its own will.
  void resign(StoreLogic& store) const;
  void began();
  void committed();

  /// Descriptors of its lifeline and its mailbox; see spi::Backend::lifeline(). Throws Refusal.
  std::vector<int> lifeline();

  /// What the store said of a claim.
  void note(const LockName& name, LockKind kind, spi::ClaimId id, const ClaimState& state);
  void note_gone(spi::ClaimId id);

 private:
  void receive(const Message& message);
  void look(const LockName& name, LockKind kind, spi::ClaimId id);
  void hold(spi::ClaimId id);
  void let_go(spi::ClaimId id);

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  kit::RegisterWatches& watches_;
  Database& database_;
  ClientNumber number_ = 0;  ///< 0: none yet
  enum class Enrolled { no, nameless, named };
  Enrolled enrolled_ = Enrolled::no;   ///< in transactions that were committed
  Enrolled enrolling_ = Enrolled::no;  ///< in the present one
  std::vector<ClientNumber> buried_;
  std::optional<int> shared_lifeline_;  ///< a descriptor of the Lifelines', once it was asked for
  std::optional<Mailbox> mailbox_;
  Neighbours neighbours_;
  std::unordered_set<spi::ClaimId> held_;
  std::optional<spi::Expectation> upkeep_;  ///< while something is held, others may have something to tell
  base::Lifetime lifetime_;
};

/// Sends the messages to everybody concerned, as far as they can be reached.
void deliver(const Mailboxes& mailboxes, const std::vector<Notice>& notices);

}  // namespace holdfast::sqlite
