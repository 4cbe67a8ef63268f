#include "faults/etcd_store.hpp"

#include <sstream>
#include <stdexcept>
#include <thread>

namespace holdfast::faults {

using std::chrono::milliseconds;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

std::uint64_t number(const std::string& answer) {
  if (answer.empty() || answer.find_first_not_of("0123456789\n") != std::string::npos) {
    throw std::runtime_error("etcdctl says: " + answer);
  }
  return std::stoull(answer);
}

}  // namespace

std::uint64_t EtcdStore::do_harm(Sabotage sabotage, milliseconds length) {
  return sabotage == Sabotage::compact ? compact() : OneServerStore::do_harm(sabotage, length);
}

/// While nobody is connected, so that whoever comes back asks for what is no more.
std::uint64_t EtcdStore::compact() {
  proxy_.be_silent(true);
  const std::size_t connections = proxy_.reset();
  server_.command({"put", "elsewhere", "news"});
  const std::string answer = server_.command({"compact", std::to_string(server_.revision())});
  proxy_.be_silent(false);
  if (answer.find("compacted revision") == std::string::npos) throw std::runtime_error("etcdctl says: " + answer);
  return connections;
}

std::uint64_t EtcdStore::forget() { return number(server_.command({"del", "--prefix", "holdfast/"})); }

std::uint64_t EtcdStore::end_leases() {
  std::vector<std::string> all = lines_of(server_.command({"lease", "list"}));
  if (!all.empty()) all.erase(all.begin());  // a headline
  std::vector<std::jthread> revoking;        // one after the other would take longer than a lease
  for (const std::string& lease : all) {
    revoking.emplace_back([this, lease] { static_cast<void>(server_.command({"lease", "revoke", lease})); });
  }
  return all.size();
}

void EtcdStore::delete_claim(const std::string& claim) {
  if (number(server_.command({"del", claim})) != 1) throw std::runtime_error("there is no key " + claim);
}

void EtcdStore::end_lease_of(const std::string& claim) {
  const std::string json = server_.command({"get", claim, "--write-out=json"});
  const std::size_t at = json.find("\"lease\":");
  if (at == std::string::npos) throw std::runtime_error("etcdctl says: " + json);
  std::ostringstream lease;
  lease << std::hex << std::stoll(json.substr(at + 8));
  const std::string answer = server_.command({"lease", "revoke", lease.str()});
  if (answer.find("revoked") == std::string::npos) throw std::runtime_error("etcdctl says: " + answer);
}

std::vector<std::string> EtcdStore::keys_below(const std::string& prefix) const {
  return lines_of(server_.command({"get", "--prefix", "--keys-only", "--sort-by=CREATE", prefix}));
}

std::string EtcdClusterStore::url_of(const std::vector<std::size_t>& servers) const {
  std::string url = "etcd://";
  for (const std::size_t server : servers) {
    url += (server == servers.front() ? "127.0.0.1:" : ",127.0.0.1:") + cluster_.port(server);
  }
  return url;
}

namespace {

const RegisterStore one({.name = "etcd",
                         .make = [] { return std::make_unique<EtcdStore>(); },
                         .sabotages = {Sabotage::restart, Sabotage::pause, Sabotage::cut_everybody,
                                       Sabotage::lose_replies, Sabotage::compact, Sabotage::forget,
                                       Sabotage::end_leases}});
// Of what has three servers, what needs them.
const RegisterStore three({.name = "etcd_cluster",
                           .make = [] { return std::make_unique<EtcdClusterStore>(); },
                           .lease = std::chrono::seconds(2),
                           .servers = 3,
                           .sabotages = {Sabotage::kill_leader, Sabotage::pause_leader, Sabotage::cut_off_leader,
                                         Sabotage::lose_quorum}});

}  // namespace
}  // namespace holdfast::faults
