#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "backends/sqlite/door.hpp"
#include "backends/sqlite/lifelines.hpp"
#include "holdfast/name.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// The clients ahead of this client's claims: when one of them ends, however it ends, the kernel closes the connection
/// to its door, and whoever waits behind it is told to look. Under the client's monitor.
class Neighbours {
 public:
  using OnGone = base::Callback<void(const LockName&, LockKind, spi::ClaimId)>;

  /// All must outlive it. `on_gone`: a client ahead of the claim may have gone; must not call this object.
  Neighbours(spi::Loop& loop, const Doors& doors, const Lifelines& lifelines, OnGone on_gone);
  ~Neighbours();
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

  /// The claim now waits for these clients, instead of those that it waited for before.
  void watch(const LockName& name, LockKind kind, spi::ClaimId id, const std::vector<ClientNumber>& ahead);
  /// The claim does not wait any more.
  void forget(spi::ClaimId id);

 private:
  struct Wait {
    LockName name;
    LockKind kind;
    std::vector<ClientNumber> ahead;
  };
  struct Neighbour {
    PrivateDescriptor connection;
    std::set<spi::ClaimId> behind;
  };

  bool meet(ClientNumber client, spi::ClaimId id);
  void part(ClientNumber client, spi::ClaimId id);
  void gone(ClientNumber client);
  void end(ClientNumber client);
  void look(spi::ClaimId id);

  spi::Loop& loop_;
  const Doors& doors_;
  const Lifelines& lifelines_;
  OnGone on_gone_;
  std::unordered_map<spi::ClaimId, Wait> waits_;
  std::unordered_map<ClientNumber, Neighbour> neighbours_;
  std::set<spi::ClaimId> unmet_;  ///< some client ahead could not be reached: look soon
  spi::Timer look_at_unmet_;
};

}  // namespace holdfast::sqlite
