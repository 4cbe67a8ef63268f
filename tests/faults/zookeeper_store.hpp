#pragma once

#include <string>
#include <vector>

#include "faults/one_server_store.hpp"
#include "faults/replicated_store.hpp"
#include "support/zookeeper_server.hpp"

namespace holdfast::faults {

class ZookeeperStore final : public OneServerStore {
 public:
  std::string url() const override { return "zookeeper://" + proxy_.address(); }
  std::string direct_url() const override { return server_.url(); }
  test::Proxy& proxy() override { return proxy_; }

  std::vector<std::string> claims() const override;
  std::vector<std::string> claims_of(const std::string& name) const override;
  void delete_claim(const std::string& claim) override;
  void end_lease_of(const std::string& claim) override;

 private:
  void kill() override { server_.kill(); }
  void start() override { server_.start(); }
  void pause() override { server_.pause(); }
  void resume() override { server_.resume(); }
  std::uint64_t forget() override;
  std::uint64_t end_leases() override;

  test::ZookeeperServer server_;
  test::Proxy proxy_{server_.port()};
};

class ZookeeperEnsembleStore final : public ReplicatedStore {
 public:
  std::string url_of(const std::vector<std::size_t>& servers) const override;
  std::size_t leader_beside(std::size_t silent) const override { return ensemble_.leader_beside(silent); }
  void kill(std::size_t server) override { ensemble_.kill(server); }
  void start_missing() override { ensemble_.start_missing(); }
  void pause(std::size_t server) override { ensemble_.pause(server); }
  void resume(std::size_t server) override { ensemble_.resume(server); }
  void cut_off(std::size_t server) override { ensemble_.cut_off(server); }
  void rejoin(std::size_t server) override { ensemble_.rejoin(server); }

 private:
  // A leader is given up after 0.8 s.
  test::ZookeeperEnsemble ensemble_{{.sync_limit = 16, .breakable_links = true}};
};

}  // namespace holdfast::faults
