#pragma once

#include <string>
#include <vector>

#include "faults/store.hpp"
#include "support/etcd_server.hpp"
#include "support/proxy.hpp"

namespace holdfast::faults {

/// One server of its own behind a proxy, or a cluster of three whose links can be cut.
class EtcdStore final : public Store {
 public:
  enum class Size { one, three };

  explicit EtcdStore(Size size = Size::one)
      : server_({.servers = size == Size::one ? 1 : 3, .breakable_links = size == Size::three}) {}

  std::string url() const override { return server_.size() == 1 ? "etcd://" + proxy_.address() : server_.url(); }
  std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) override;

  test::EtcdServer& server() { return server_; }
  /// REQUIRES: there is one server.
  test::Proxy& proxy() { return proxy_; }

  /// The keys of a lock, the oldest first.
  std::vector<std::string> keys_of(const std::string& name) const;
  /// The lease of a key, as etcdctl writes it.
  std::string lease_of(const std::string& key) const;
  std::vector<std::string> leases() const;

 private:
  std::uint64_t restart(std::chrono::milliseconds length);
  std::uint64_t compact();
  std::uint64_t kill_leader(std::chrono::milliseconds length);
  std::uint64_t lose_quorum(std::chrono::milliseconds length);
  std::uint64_t end_leases() const;
  /// Returns when another server leads than `old`, which must not be asked.
  std::uint64_t wait_for_another_leader(std::size_t old) const;
  std::uint64_t number_of_keys() const;

  test::EtcdServer server_;
  test::Proxy proxy_{server_.port()};
};

}  // namespace holdfast::faults
