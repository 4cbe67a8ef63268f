#pragma once

#include <string>
#include <vector>

#include "faults/one_server_store.hpp"
#include "faults/replicated_store.hpp"
#include "support/etcd_server.hpp"

namespace holdfast::faults {

class EtcdStore final : public OneServerStore {
 public:
  std::string url() const override { return "etcd://" + proxy_.address(); }
  std::string direct_url() const override { return server_.url(); }
  /// Also `compact`.
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  test::EtcdServer& server() { return server_; }
  test::Proxy& proxy() override { return proxy_; }

  std::vector<std::string> claims() const override { return keys_below("holdfast/"); }
  std::vector<std::string> claims_of(const std::string& name) const override {
    return keys_below("holdfast/" + name + "/");
  }
  void delete_claim(const std::string& claim) override;
  void end_lease_of(const std::string& claim) override;

 private:
  void kill() override { server_.kill(); }
  void start() override { server_.start(); }
  void pause() override { server_.pause(); }
  void resume() override { server_.resume(); }
  std::uint64_t forget() override;
  std::uint64_t end_leases() override;
  std::uint64_t compact();
  std::vector<std::string> keys_below(const std::string& prefix) const;

  test::EtcdServer server_;
  test::Proxy proxy_{server_.port()};
};

class EtcdClusterStore final : public ReplicatedStore {
 public:
  std::string url_of(const std::vector<std::size_t>& servers) const override;
  std::size_t leader_beside(std::size_t silent) const override { return cluster_.leader_beside(silent); }
  void kill(std::size_t server) override { cluster_.kill(server); }
  void start_missing() override { cluster_.start_missing(); }
  void pause(std::size_t server) override { cluster_.pause(server); }
  void resume(std::size_t server) override { cluster_.resume(server); }
  void cut_off(std::size_t server) override { cluster_.cut_off(server); }
  void rejoin(std::size_t server) override { cluster_.rejoin(server); }

 private:
  test::EtcdServer cluster_{{.servers = size, .breakable_links = true}};
};

}  // namespace holdfast::faults
