#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backends/sqlite/claim_table.hpp"
#include "backends/sqlite/client_table.hpp"
#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/machine.hpp"
#include "backends/sqlite/message.hpp"
#include "backends/sqlite/numbers.hpp"
#include "backends/sqlite/register_table.hpp"
#include "backends/sqlite/sql.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"
#include "spi/result.hpp"

namespace holdfast::sqlite {

/// How a claim stands, and for whom it waits.
struct ClaimState {
  spi::ClaimAnswer answer = {};
  /// waiting: the clients whose end could bring the grant.
  std::vector<ClientNumber> ahead = {};
};

/// The rules of the lines, over the tables of one database. Each operation is a step of a transaction that the caller
/// began; start() comes first. A line is put in order when it is touched: claims whose lease has ended or whose client
/// has died are removed, and whoever is next is granted. A granted claim with a lock delay is a ghost for that long
/// before it is removed: it counts as expired, so nobody finds it, but it still takes its place.
///
/// Answers leave `armed_at` at Instant::min(). What other clients should be told is kept until take_notices(), and good
/// once the transaction is committed. All throw SqlFailure; those that grant or join throw ReservationNeeded.
class StoreLogic {
 public:
  /// Whether the client may have made claims through another object, before a fork.
  enum class History { none, unknown };

  /// All must outlive it.
  StoreLogic(Connection& connection, const Lifelines& lifelines, const Machine& machine, Numbers& numbers,
             History history);

  /// A transaction has begun: what time is it?
  void start();

  /// Looks for damage in all claims: one under a damaged name would not be found, and its lock be granted to somebody
  /// else. REQUIRES: outside of a transaction.
  void check() { claims_.check_all(); }

  // Claims: see spi::Claims. `self` is the client that asks.

  spi::Result<ClaimState> acquire(const spi::ClaimRequest& request, ClientNumber self);
  bool release(const spi::ClaimRef& ref);
  ClaimState renew(const spi::ClaimRef& ref);
  spi::Result<ClaimState> downgrade(const spi::ClaimRef& ref);

  // Administration: see spi::Administration.

  std::optional<LockStatus> show(std::string_view name, LockKind kind);
  std::vector<LockStatus> list(std::string_view prefix);
  std::size_t evict(std::string_view name, LockKind kind, std::uint64_t up_to);
  std::size_t ask_to_release(std::string_view name, LockKind kind, const ReleaseRequest& request);
  bool resize(std::string_view name, std::uint32_t total);

  // Clients.

  /// A new number that no lifeline has yet.
  ClientNumber new_number() { return numbers_.next(); }
  void enroll(ClientNumber client, const ClientIdentity& identity) { clients_.insert(client, identity); }
  /// The client whose store this is leaves by its own will: ends its claims, but not its ghosts. Usually it has none
  /// left, and then this does not depend on how many others there are.
  void resign(ClientNumber self);
  /// Ends the claims of some clients that have died, and returns these clients.
  std::vector<ClientNumber> bury_some();

  RegisterTable& registers() { return registers_; }

  std::vector<Notice> take_notices();

 private:
  /// While an operation is answered: the claim of the requester need not be told of its grant.
  class Requester {
   public:
    Requester(StoreLogic& store, spi::ClaimId id) : store_(store) { store_.requester_ = id; }
    ~Requester() { store_.requester_.reset(); }
    Requester(const Requester&) = delete;
    Requester& operator=(const Requester&) = delete;

   private:
    StoreLogic& store_;
  };

  /// What is left when a claim ends by itself.
  enum class Left { nothing, ghost };

  /// A claim that has not expired; tidies up one that has.
  std::optional<Claim> find(const LineKey& line, const spi::ClaimId& id);
  void forget(const LineKey& line, const spi::ClaimId& id);
  bool expired(const Claim& claim) const { return claim.expires <= now_; }
  /// Leaves out claims that are gone: whoever writes next removes them.
  std::vector<LockStatus> living(std::vector<ClaimTable::Listed> listed) const;
  bool gone(const Claim& claim) const { return expired(claim) || !lifelines_.alive(claim.client); }
  bool has_room(const LineKey& line, ClaimMode mode, std::uint32_t units);
  bool may_enter(const LineKey& line, const spi::Mode& mode);
  std::optional<spi::Failure> set_total(const spi::ClaimRequest& request, const LineKey& line);
  void sweep(const LineKey& line);
  void sweep_crowd(const LineKey& line);
  Left bury(const LineKey& line, const Claim& claim);
  Left remove_claims_of(ClientNumber client);
  void promote(const LineKey& line);
  void settle(const LineKey& line);
  void grant(const LineKey& line, Claim claim);
  void remove(const LineKey& line, const Claim& claim);
  void withdraw(const LineKey& line, const Claim& claim);
  void arm(const LineKey& line, Claim& claim, spi::milliseconds lease);
  std::uint32_t claims_before(const LineKey& line, const Claim& claim);
  void use_pool(const LineKey& line, const Claim& claim, int sign);
  ClaimState describe(const LineKey& line, const Claim& claim);
  void describe_wait(const LineKey& line, const Claim& claim, ClaimState& state);
  void tell(Message::Kind kind, const LineKey& line, const Claim& claim);

  Connection& connection_;
  const Lifelines& lifelines_;
  const Machine& machine_;
  Numbers& numbers_;
  const History history_;
  ClaimTable claims_;
  ClientTable clients_;
  RegisterTable registers_;
  base::Instant now_ = {};
  std::optional<spi::ClaimId> requester_;
  std::vector<Notice> notices_;
  /// The places of this client's claims, as they were last seen: where at() finds them.
  std::map<std::tuple<spi::ClaimId, LockKind, std::string>, std::int64_t, std::less<>> places_;
  bool left_ghosts_ = false;  ///< some of this client's claims may have become ghosts
};

}  // namespace holdfast::sqlite
