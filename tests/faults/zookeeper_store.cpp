#include "faults/zookeeper_store.hpp"

#include <set>
#include <stdexcept>
#include <thread>

#include "support/eventually.hpp"
#include "zookeeper/hand.hpp"

namespace holdfast::faults {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using test::ZookeeperEnsemble;
using zookeeper_suite::Hand;

namespace {

const std::string root = "/holdfast";
/// For how long replies are lost before everybody's connection is cut.
constexpr auto deafness = 100ms;

}  // namespace

std::uint64_t ZookeeperStore::do_harm(Sabotage sabotage, milliseconds length) {
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
    case Sabotage::forget: return forget();
    case Sabotage::end_leases: return end_sessions();
    default: throw std::invalid_argument("nobody can do this to ZooKeeper: " + std::string(name_of(sabotage)));
  }
}

std::uint64_t ZookeeperStore::restart(milliseconds length) {
  const std::size_t before = claims().size();
  server_.kill();
  stay_away(length);
  server_.start();
  if (before > 0 && Hand(server_.port()).children(root).empty()) {
    throw std::runtime_error("the server has not kept its data");
  }
  return before;
}

std::uint64_t ZookeeperStore::forget() const {
  const std::vector<std::string> all = claims();
  Hand hand(server_.port());
  for (const std::string& path : all) hand.remove(path);
  return all.size();
}

std::uint64_t ZookeeperStore::end_sessions() const {
  Hand hand(server_.port());
  std::set<std::int64_t> sessions;
  for (const std::string& path : claims()) sessions.insert(hand.owner(path));
  sessions.erase(0);  // it has gone meanwhile
  for (const std::int64_t session : sessions) Hand::end_session(server_.port(), session);
  return sessions.size();
}

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

void ZookeeperStore::delete_claim(const std::string& path) const { Hand(server_.port()).remove(path); }

void ZookeeperStore::end_session_of(const std::string& path) const {
  Hand::end_session(server_.port(), Hand(server_.port()).owner(path));
}

// --- three servers --------------------------------------------------------------------------------------------------

std::uint64_t ZookeeperEnsembleStore::do_harm(Sabotage sabotage, milliseconds length) {
  const std::size_t leader = ensemble_.leader();
  if (leader == ZookeeperEnsemble::size) return 0;
  std::uint64_t replaced = 1;
  switch (sabotage) {
    case Sabotage::kill_leader:
      ensemble_.kill(leader);
      replaced = wait_for_another_leader(leader);
      stay_away(length);
      ensemble_.start(leader);
      return replaced;
    case Sabotage::pause_leader:
      ensemble_.pause(leader);
      replaced = wait_for_another_leader(leader);
      stay_away(length);
      ensemble_.resume(leader);
      return replaced;
    case Sabotage::cut_off_leader:
      ensemble_.cut_off(leader);
      replaced = wait_for_another_leader(leader);
      stay_away(length);
      ensemble_.rejoin(leader);
      return replaced;
    case Sabotage::lose_quorum: {
      const std::size_t other = (leader + 1) % ZookeeperEnsemble::size;
      ensemble_.kill(leader);
      ensemble_.kill(other);
      stay_away(length);
      ensemble_.start_missing();
      return 1;
    }
    default: throw std::invalid_argument("nobody can do this to an ensemble: " + std::string(name_of(sabotage)));
  }
}

std::uint64_t ZookeeperEnsembleStore::wait_for_another_leader(std::size_t old) const {
  return test::eventually([&] { return ensemble_.leader_beside(old) != ZookeeperEnsemble::size; }) ? 1 : 0;
}

}  // namespace holdfast::faults
