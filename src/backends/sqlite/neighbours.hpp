#pragma once

#include <set>
#include <unordered_map>
#include <vector>

#include "backends/sqlite/lifelines.hpp"
#include "backends/sqlite/mailbox.hpp"
#include "holdfast/name.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// Watches the clients ahead of this client's claims. When one of them ends, however it ends, the kernel closes the
/// connection to its mailbox, and the claims that wait behind it are told to look. Under the client's monitor.
class Neighbours {
 public:
  using OnGone = base::Callback<void(const LockName&, LockKind, spi::ClaimId)>;

  /// `on_gone` hears that a client ahead of the claim may have gone. REQUIRES: all outlive it; `on_gone` does not call
  /// this object.
  Neighbours(spi::Loop& loop, const Mailboxes& mailboxes, const Lifelines& lifelines, OnGone on_gone);
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

  bool watch_one(ClientNumber client, spi::ClaimId id);
  void forget_one(ClientNumber client, spi::ClaimId id);
  void gone(ClientNumber client);
  void disconnect(ClientNumber client);
  void look(spi::ClaimId id);
  void look_soon(spi::ClaimId id);

  spi::Loop& loop_;
  const Mailboxes& mailboxes_;
  const Lifelines& lifelines_;
  OnGone on_gone_;
  std::unordered_map<spi::ClaimId, Wait> waits_;
  std::unordered_map<ClientNumber, Neighbour> neighbours_;
  std::set<spi::ClaimId> unreached_;  ///< some client ahead of them could not be reached or watched: they look soon
  spi::Timer look_at_unreached_;
};

}  // namespace holdfast::sqlite
