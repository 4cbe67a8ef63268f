#include "faults/zookeeper_store.hpp"

#include <set>
#include <stdexcept>

#include "zookeeper/hand.hpp"

namespace holdfast::faults {

using zookeeper_suite::Hand;

namespace {

const std::string root = "/holdfast";

}  // namespace

std::vector<std::string> ZookeeperStore::claims() const {
  std::vector<std::string> all;
  for (const std::string& name : Hand(server_.port()).children(root)) {
    if (name.starts_with("%")) continue;  // no lock
    for (std::string& path : claims_of(name)) all.push_back(std::move(path));
  }
  return all;
}

std::vector<std::string> ZookeeperStore::claims_of(const std::string& name) const {
  std::vector<std::string> nodes = Hand(server_.port()).children(root + "/" + name);
  for (std::string& node : nodes) node = root + "/" + name + "/" + node;
  return nodes;
}

void ZookeeperStore::delete_claim(const std::string& claim) { Hand(server_.port()).remove(claim); }

void ZookeeperStore::end_lease_of(const std::string& claim) {
  const std::int64_t session = Hand(server_.port()).owner(claim);
  if (session == 0) throw std::runtime_error("nobody has the node " + claim);
  Hand::end_session(server_.port(), session);
}

std::uint64_t ZookeeperStore::forget() {
  const std::vector<std::string> all = claims();
  Hand hand(server_.port());
  for (const std::string& claim : all) hand.remove(claim);
  return all.size();
}

std::uint64_t ZookeeperStore::end_leases() {
  Hand hand(server_.port());
  std::set<std::int64_t> sessions;
  for (const std::string& claim : claims()) sessions.insert(hand.owner(claim));
  sessions.erase(0);  // it has gone meanwhile
  for (const std::int64_t session : sessions) Hand::end_session(server_.port(), session);
  return sessions.size();
}

std::string ZookeeperEnsembleStore::url_of(const std::vector<std::size_t>& servers) const {
  std::string url = "zookeeper://";
  for (const std::size_t server : servers) {
    url += (server == servers.front() ? "127.0.0.1:" : ",127.0.0.1:") + ensemble_.port(server);
  }
  return url;
}

namespace {

const RegisterStore one({.name = "zookeeper",
                         .make = [] { return std::make_unique<ZookeeperStore>(); },
                         .lease = std::chrono::seconds(2),
                         .sabotages = {Sabotage::restart, Sabotage::pause, Sabotage::cut_everybody,
                                       Sabotage::lose_replies, Sabotage::forget, Sabotage::end_leases}});
// Of what has three servers, what needs them.
const RegisterStore three({.name = "zookeeper_ensemble",
                           .make = [] { return std::make_unique<ZookeeperEnsembleStore>(); },
                           .lease = std::chrono::seconds(2),
                           .servers = 3,
                           .sabotages = {Sabotage::kill_leader, Sabotage::pause_leader, Sabotage::cut_off_leader,
                                         Sabotage::lose_quorum}});

}  // namespace
}  // namespace holdfast::faults
