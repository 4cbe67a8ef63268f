#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/line_snapshot.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "kit/request_order.hpp"
#include "spi/administration.hpp"
#include "spi/operation.hpp"

namespace holdfast::zookeeper {

/// Lists lines and changes them, whoever has the claims in them.
class NodeAdministration final : public spi::Administration {
 public:
  /// REQUIRES: all outlive it.
  NodeAdministration(Sessions& sessions, Calls& calls, kit::RequestOrder& order_by_name)
      : sessions_(sessions), calls_(calls), order_by_name_(order_by_name) {}

  void show(const LockName& name, LockKind kind, spi::Done<std::optional<LockStatus>> done) override;
  void list(std::string_view prefix, spi::Done<std::vector<LockStatus>> done) override;
  void evict(const LockName& name, LockKind kind, std::uint64_t up_to, spi::Done<std::size_t> done) override;
  void ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                      spi::Done<std::size_t> done) override;
  void resize(const LockName& name, std::uint32_t total, spi::Done<bool> done) override;
  void now(spi::Done<std::chrono::system_clock::time_point> done) override;

 private:
  /// A lock or a semaphore.
  struct Which {
    std::string name;
    bool permits = false;
  };

  spi::Operation<std::optional<LockStatus>> showing(CallPtr call, Which which);
  spi::Operation<std::vector<LockStatus>> listing(CallPtr call, std::string prefix);
  spi::Operation<std::size_t> evicting(CallPtr call, Which which, std::uint64_t up_to);
  spi::Operation<std::size_t> asking_to_release(CallPtr call, Which which, ReleaseRequest request);
  spi::Operation<bool> resizing(CallPtr call, Which which, std::uint32_t total);
  spi::Operation<std::chrono::system_clock::time_point> telling_time(CallPtr call);

  spi::Operation<std::optional<LockStatus>> looking_at(SessionPtr session, Which which, Freshness freshness);
  spi::Operation<bool> asking_one_to_release(SessionPtr session, std::string path, ReleaseRequest request);
  spi::Failure explain(const Reply& reply, bool doubtful) const;
  std::string path_of(const Which& which) const { return sessions_.nodes().line_of(which.name, which.permits); }

  Sessions& sessions_;
  Calls& calls_;
  kit::RequestOrder& order_by_name_;
};

}  // namespace holdfast::zookeeper
