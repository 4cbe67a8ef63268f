#pragma once

#include <string>
#include <vector>

#include "faults/store.hpp"
#include "support/proxy.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::faults {

/// One server of its own behind a proxy.
class ZookeeperStore final : public Store {
 public:
  std::string url() const override { return "zookeeper://" + proxy_.address(); }
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  test::ZookeeperServer& server() { return server_; }
  test::Proxy& proxy() { return proxy_; }

  /// The nodes of all claims, with their paths; of a name, the oldest first.
  std::vector<std::string> claims() const;
  std::vector<std::string> claims_of(const std::string& name) const;
  /// By an operator: the node is deleted, or the session that it belongs to is ended.
  void delete_claim(const std::string& path) const;
  void end_session_of(const std::string& path) const;

 private:
  std::uint64_t restart(std::chrono::milliseconds length);
  std::uint64_t forget() const;
  std::uint64_t end_sessions() const;

  test::ZookeeperServer server_;
  test::Proxy proxy_{server_.port()};
};

/// Three servers that agree with each other, and whose links can be cut.
class ZookeeperEnsembleStore final : public Store {
 public:
  std::string url() const override { return ensemble_.url(); }
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  test::ZookeeperEnsemble& ensemble() { return ensemble_; }

 private:
  /// Returns when another server leads than `old`, which must not be asked.
  std::uint64_t wait_for_another_leader(std::size_t old) const;

  // A leader is given up after 0.8 s.
  test::ZookeeperEnsemble ensemble_{{.sync_limit = 16, .breakable_links = true}};
};

}  // namespace holdfast::faults
