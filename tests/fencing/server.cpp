#include "fencing/server.hpp"

#include <unistd.h>

#include <vector>

#include "fencing/shell.hpp"

namespace holdfast::fencing {

EtcdServer::EtcdServer() {
  std::string name;
  const auto start = [&] {
    const std::string port = test::free_port();
    url_ = "http://127.0.0.1:" + port;
    const std::string peers = "http://127.0.0.1:" + test::free_port();
    name = "test-" + std::to_string(getpid()) + '-' + port;
    return std::make_unique<test::ServerProcess>(
        std::vector<std::string>{"etcd", "--name", name, "--data-dir", (directory_.path() / name).string(),
                                 "--listen-client-urls", url_, "--advertise-client-urls", url_, "--listen-peer-urls",
                                 peers, "--initial-advertise-peer-urls", peers, "--initial-cluster",
                                 name + '=' + peers},
        directory_.path());
  };
  const auto ready = [&](test::ServerProcess&) {
    const Outcome members = run_script("etcdctl --dial-timeout=1s --command-timeout=1s member list", directory_.path(),
                                       {{"ETCDCTL_API", "3"}, {"ETCDCTL_ENDPOINTS", url_}});
    return members.status == 0 && members.output.find(name) != std::string::npos;
  };
  test::start_server("etcd", directory_.path(), start, ready, server_);
}

}  // namespace holdfast::fencing
