#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/zookeeper/call.hpp"
#include "backends/zookeeper/flow.hpp"
#include "backends/zookeeper/lines.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "kit/request_order.hpp"
#include "spi/administration.hpp"

namespace holdfast::zookeeper {

/// Looks at lines and changes them, whoever's claims are in them.
class NodeAdministration final : public spi::Administration {
 public:
  /// REQUIRES: all outlive it.
  NodeAdministration(Sessions& sessions, Calls& calls, kit::RequestOrder& names)
      : sessions_(sessions), calls_(calls), names_(names) {}

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

  Detached run_show(CallPtr<std::optional<LockStatus>> call, Which which);
  Detached run_list(CallPtr<std::vector<LockStatus>> call, std::string prefix);
  Detached run_evict(CallPtr<std::size_t> call, Which which, std::uint64_t up_to);
  Detached run_ask(CallPtr<std::size_t> call, Which which, ReleaseRequest request);
  Detached run_resize(CallPtr<bool> call, Which which, std::uint32_t total);
  Detached run_now(CallPtr<std::chrono::system_clock::time_point> call);

  Flow<spi::Result<std::optional<LockStatus>>> status_of(SessionPtr session, Which which, Freshness freshness);
  Flow<spi::Result<bool>> ask(SessionPtr session, std::string path, ReleaseRequest request);
  spi::Failure explain(const Reply& reply, bool doubtful) const;
  std::string path_of(const Which& which) const { return sessions_.nodes().line_of(which.name, which.permits); }

  Sessions& sessions_;
  Calls& calls_;
  kit::RequestOrder& names_;
};

}  // namespace holdfast::zookeeper
