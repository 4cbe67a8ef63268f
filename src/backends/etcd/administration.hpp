#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/etcd/keys.hpp"
#include "backends/etcd/line.hpp"
#include "backends/etcd/link.hpp"
#include "kit/request_order.hpp"
#include "spi/administration.hpp"
#include "spi/loop.hpp"
#include "spi/operation.hpp"

namespace holdfast::etcd {

/// Looking at lines, and changing them for others: always on the condition that nobody has changed them meanwhile.
class EtcdAdministration final : public spi::Administration {
 public:
  /// REQUIRES: all outlive it.
  EtcdAdministration(spi::Loop& loop, Link& link, const Keys& keys, kit::RequestOrder& order)
      : loop_(loop), link_(link), keys_(keys), order_(order) {}

  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

 private:
  /// How much is left of leases, by id.
  using Left = std::map<std::int64_t, spi::milliseconds>;
  /// A change of one claim: a new record, or none if it shall go.
  struct Change {
    Line::Claim claim;
    std::optional<Record> record = {};
  };

  /// All claims of a semaphore are changed: nobody may have joined, and what others know of it is not true any more.
  struct WholeLine {
    std::string line;
    std::string door;
    std::int64_t newest = 0;  ///< the create revision of its last claim
  };

  spi::Operation<std::optional<LockStatus>> showing(LockName name, LockKind kind);
  spi::Operation<std::vector<LockStatus>> listing(std::string prefix);
  spi::Operation<std::size_t> evicting(LockName name, LockKind kind, std::uint64_t up_to);
  spi::Operation<std::size_t> asking(LockName name, LockKind kind, ReleaseRequest request);
  spi::Operation<bool> resizing(LockName name, std::uint32_t total);

  spi::Operation<Line> reading(std::string line, base::Instant until);
  spi::Operation<Left> looking_at_leases(std::vector<const Line*> lines, base::Instant until);
  /// False if somebody was quicker: then perhaps only some of them are made. The oldest claims come first.
  spi::Operation<bool> changing(std::vector<Change> changes, std::optional<WholeLine> whole, base::Instant until);
  static LockStatus status_of(const std::string& name, LockKind kind, const Line& line, const Left& left);
  base::Instant deadline() const { return loop_.now() + spi::longest_patience; }

  spi::Loop& loop_;
  Link& link_;
  const Keys& keys_;
  kit::RequestOrder& order_;
};

}  // namespace holdfast::etcd
