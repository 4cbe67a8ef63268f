#pragma once

#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "backends/sqlite/database.hpp"
#include "backends/sqlite/door.hpp"
#include "backends/sqlite/neighbours.hpp"
#include "backends/sqlite/store.hpp"
#include "holdfast/status.hpp"
#include "kit/register_watches.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// This client among the others of its store. With its first claim it enrolls: it takes a number, a lifeline by which
/// others know that it lives, and a door at which they tell it things; and it watches those for whom its claims wait.
/// Under the client's monitor.
class Membership {
 public:
  /// All must outlive it.
  Membership(spi::Loop& loop, spi::ClaimEvents& events, kit::RegisterWatches& watches, Database& database);
  /// Others see that it has gone. REQUIRES: no ForkGate::Use.
  ~Membership();
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  /// Inside a transaction, which may be undone and tried again: the number of this client. Without an identity it is
  /// nobody yet. Throws SqlFailure, Refusal.
  ClientNumber enroll(Store& store, const ClientIdentity* identity);
  /// The last step, for a client that leaves by its own will.
  void resign(Store& store) const;
  void began();
  void committed();

  /// Descriptors of its lifeline and its door; see spi::Backend::lifeline(). Throws Refusal.
  std::vector<int> lifeline();

  /// What the store said of a claim.
  void note(const LockName& name, LockKind kind, spi::ClaimId id, const Standing& standing);
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
  std::optional<Door> door_;
  Neighbours neighbours_;
  std::unordered_set<spi::ClaimId> held_;
  std::optional<spi::Expectation> upkeep_;   ///< while something is held, others may have something to tell
  const std::shared_ptr<Membership*> self_;  ///< null once this object has gone
};

/// Tells everybody concerned, as far as they can be reached.
void deliver(const Doors& doors, const std::vector<Notice>& notices);

}  // namespace holdfast::sqlite
