#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/etcd/claims.hpp"

/// What the steps of EtcdClaims hand to each other.
namespace holdfast::etcd {

/// An acquire under way.
struct EtcdClaims::Wanted {
  Wanted(const spi::ClaimRequest& request, const Keys& keys);

  ClaimKey claim;
  spi::Mode mode;
  spi::milliseconds lease;
  LeaseKind kind;
  bool refuse;
  Record record;
  std::string line;  ///< what its keys begin with
  std::string key;
  spi::Instant deadline = {};  ///< once it has its turn
  std::optional<spi::ClaimId> replaces = {};
  std::vector<std::string> replaced_keys = {};

  bool permits() const { return mode.kind == ClaimMode::permits; }
};

/// One claim of a renewal under way.
struct EtcdClaims::Look {
  ClaimKey claim;
  spi::milliseconds lease = {};      ///< zero: it only asks
  std::optional<bool> permits = {};  ///< which kind of line; unknown, or in none
  std::int64_t under = 0;            ///< the lease that its key is under
};

/// `co_await transacting(...)`.
inline auto transacting(Link& link, Transaction transaction, spi::Instant deadline) {
  return spi::answer_of<TransactionReply>(
      [&link, transaction = std::move(transaction), deadline](spi::Done<TransactionReply> done) mutable {
        link.transact(std::move(transaction), deadline, std::move(done));
      });
}

}  // namespace holdfast::etcd
