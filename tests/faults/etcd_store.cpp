#include "faults/etcd_store.hpp"

#include <sstream>
#include <stdexcept>
#include <thread>

#include "support/eventually.hpp"

namespace holdfast::faults {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

/// For how long replies are lost before everybody's connection is cut.
constexpr auto deafness = 100ms;

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
  switch (sabotage) {
    case Sabotage::restart: return restart(length);
    case Sabotage::pause:
      server_.pause();
      stay_away(length);
      server_.resume();
      return length > 0ms ? 1 : 0;
    case Sabotage::cut_everybody: return proxy_.reset();
    case Sabotage::lose_replies: {
      const std::size_t before = proxy_.lost();
      proxy_.lose_replies();
      std::this_thread::sleep_for(deafness);
      proxy_.reset();
      return proxy_.lost() - before;
    }
    case Sabotage::compact: return compact();
    case Sabotage::kill_leader: return kill_leader(length);
    case Sabotage::pause_leader: {
      const std::size_t leader = server_.leader();
      if (leader == server_.size()) return 0;
      server_.pause(leader);
      const std::uint64_t replaced = wait_for_another_leader(leader);
      stay_away(length);
      server_.resume(leader);
      return replaced;
    }
    case Sabotage::cut_off_leader: {
      const std::size_t leader = server_.leader();
      if (leader == server_.size()) return 0;
      server_.cut_off(leader);
      const std::uint64_t replaced = wait_for_another_leader(leader);
      stay_away(length);
      server_.rejoin(leader);
      return replaced;
    }
    case Sabotage::lose_quorum: return lose_quorum(length);
    case Sabotage::forget: return number(server_.command({"del", "--prefix", "holdfast/"}));
    case Sabotage::end_leases: return end_leases();
    default: throw std::invalid_argument("nobody can do this to etcd: " + std::string(name_of(sabotage)));
  }
}

std::uint64_t EtcdStore::restart(milliseconds length) {
  const std::uint64_t keys = number_of_keys();
  const long long revision = server_.revision();
  server_.kill();
  stay_away(length);
  server_.start();
  if (server_.revision() < revision) throw std::runtime_error("the server has not kept its data");
  return keys;
}

/// While nobody is connected, so that whoever comes back asks for what is no more.
std::uint64_t EtcdStore::compact() {
  proxy_.be_silent(true);
  const std::size_t connections = proxy_.reset();
  const std::uint64_t keys = number_of_keys();
  server_.command({"put", "elsewhere", "news"});
  const std::string answer = server_.command({"compact", std::to_string(server_.revision())});
  proxy_.be_silent(false);
  if (answer.find("compacted revision") == std::string::npos) throw std::runtime_error("etcdctl says: " + answer);
  return connections > 0 ? keys : 0;
}

std::uint64_t EtcdStore::kill_leader(milliseconds length) {
  const std::size_t leader = server_.leader();
  if (leader == server_.size()) return 0;
  server_.kill(leader);
  const std::uint64_t replaced = wait_for_another_leader(leader);
  stay_away(length);
  server_.start(leader);
  return replaced;
}

/// The leader, and another one.
std::uint64_t EtcdStore::lose_quorum(milliseconds length) {
  const std::size_t leader = server_.leader();
  if (leader == server_.size()) return 0;
  const std::size_t other = (leader + 1) % server_.size();
  server_.kill(leader);
  server_.kill(other);
  stay_away(length);
  server_.start(leader);
  server_.start(other);
  return 1;
}

std::uint64_t EtcdStore::wait_for_another_leader(std::size_t old) const {
  return test::eventually([&] { return server_.leader_beside(old) != server_.size(); }) ? 1 : 0;
}

std::uint64_t EtcdStore::end_leases() const {
  const std::vector<std::string> all = leases();
  std::vector<std::jthread> revoking;  // one after the other would take longer than a lease
  for (const std::string& lease : all) {
    revoking.emplace_back([this, lease] { static_cast<void>(server_.command({"lease", "revoke", lease})); });
  }
  return all.size();
}

std::vector<std::string> EtcdStore::keys_of(const std::string& name) const {
  return lines_of(server_.command({"get", "--prefix", "--keys-only", "--sort-by=CREATE", "holdfast/" + name + "/"}));
}

std::string EtcdStore::lease_of(const std::string& key) const {
  const std::string json = server_.command({"get", key, "--write-out=json"});
  const std::size_t at = json.find("\"lease\":");
  if (at == std::string::npos) throw std::runtime_error("etcdctl says: " + json);
  std::ostringstream lease;
  lease << std::hex << std::stoll(json.substr(at + 8));
  return lease.str();
}

std::vector<std::string> EtcdStore::leases() const {
  std::vector<std::string> leases = lines_of(server_.command({"lease", "list"}));
  if (!leases.empty()) leases.erase(leases.begin());  // a headline
  return leases;
}

std::uint64_t EtcdStore::number_of_keys() const {
  return lines_of(server_.command({"get", "--prefix", "--keys-only", "holdfast/"})).size();
}

}  // namespace holdfast::faults
