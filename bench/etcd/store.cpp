#include "store/store.hpp"

#include "store/server.hpp"

namespace holdfast::bench {
namespace {

std::vector<std::string> command(const std::filesystem::path& /*folder*/, const std::string& port) {
  const std::string clients = "http://127.0.0.1:" + port;
  const std::string members = "http://127.0.0.1:" + test::free_port();
  return {"etcd",
          "--name=bench",
          "--data-dir=data",
          "--listen-client-urls=" + clients,
          "--advertise-client-urls=" + clients,
          "--listen-peer-urls=" + members,
          "--initial-advertise-peer-urls=" + members,
          "--initial-cluster=bench=" + members};
}

}  // namespace

const Store& store() {
  static const Server server("etcd", command, "ready to serve");
  static const Store etcd = {.url = "etcd://" + server.address(),
                             .address = server.address(),
                             .raw = "two puts, Go",
                             .peer = "Go concurrency.Mutex",
                             .peer_program = "etcd_go",
                             .pair_to_raw = 0.7,
                             .spread_to_peer = 1.5,
                             .processes_to_peer = 4};
  return etcd;
}

}  // namespace holdfast::bench
