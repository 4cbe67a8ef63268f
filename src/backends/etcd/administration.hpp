#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/etcd/keys.hpp"
#include "backends/etcd/line.hpp"
#include "backends/etcd/server_calls.hpp"
#include "kit/request_order.hpp"
#include "spi/administration.hpp"
#include "spi/loop.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Reads lines, and changes the claims of others. A change is made only if nobody else has changed the claims since they
/// were read.
class EtcdAdministration final : public spi::Administration {
 public:
  /// REQUIRES: all references outlive it.
  EtcdAdministration(spi::Loop& loop, ServerCalls& calls, const Keys& keys, kit::RequestOrder& order)
      : loop_(loop), calls_(calls), keys_(keys), order_(order) {}

  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

 private:
  /// How much is left of each lease, by its id.
  using Left = std::map<std::int64_t, spi::milliseconds>;
  /// A change of one claim. Without a record, the claim is deleted.
  struct Change {
    Line::Claim claim;
    std::optional<Record> record = {};
  };

  /// For a change of all claims of a semaphore: nobody may have joined meanwhile, and what others know of the semaphore
  /// is no longer true.
  struct WholeLine {
    std::string line;
    std::string joined_mark;
    std::int64_t newest = 0;  ///< the create revision of its last claim
  };

  spi::Operation<std::optional<LockStatus>> showing(LockName name, LockKind kind);
  spi::Operation<std::vector<LockStatus>> listing(std::string prefix);
  spi::Operation<std::size_t> evicting(LockName name, LockKind kind, std::uint64_t up_to);
  spi::Operation<std::size_t> asking_to_release(LockName name, LockKind kind, ReleaseRequest request);
  spi::Operation<bool> resizing(LockName name, std::uint32_t total);

  spi::Operation<Line> reading(std::string line, base::Instant until);
  spi::Operation<Left> looking_at_leases(std::vector<const Line*> lines, base::Instant until);
  /// Makes the changes, those of the oldest claims first. False if somebody else has changed a claim meanwhile; some of
  /// the changes may have been made then.
  spi::Operation<bool> changing(std::vector<Change> changes, std::optional<WholeLine> whole, base::Instant until);
  static LockStatus status_of(const std::string& name, LockKind kind, const Line& line, const Left& left);
  base::Instant deadline() const { return loop_.now() + spi::longest_patience; }

  spi::Loop& loop_;
  ServerCalls& calls_;
  const Keys& keys_;
  kit::RequestOrder& order_;
};

}  // namespace holdfast::etcd
