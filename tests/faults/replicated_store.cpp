#include "faults/replicated_store.hpp"

#include <stdexcept>

#include "support/eventually.hpp"

namespace holdfast::faults {

std::uint64_t ReplicatedStore::do_harm(Sabotage sabotage, std::chrono::milliseconds length) {
  const std::size_t leader = this->leader();
  if (leader == size) return 0;
  bool replaced = false;
  switch (sabotage) {
    case Sabotage::kill_leader:
      kill(leader);
      replaced = is_replaced(leader);
      stay_away(length);
      start_missing();
      return replaced ? 1 : 0;
    case Sabotage::pause_leader:
      pause(leader);
      replaced = is_replaced(leader);
      stay_away(length);
      resume(leader);
      return replaced ? 1 : 0;
    case Sabotage::cut_off_leader:
      cut_off(leader);
      replaced = is_replaced(leader);
      stay_away(length);
      rejoin(leader);
      return replaced ? 1 : 0;
    case Sabotage::lose_quorum:
      kill(leader);
      kill((leader + 1) % size);
      stay_away(length);
      start_missing();
      return 1;
    default: throw std::invalid_argument("nobody can do this to three servers: " + std::string(name_of(sabotage)));
  }
}

bool ReplicatedStore::is_replaced(std::size_t old) const {
  return test::eventually([&] { return leader_beside(old) != size; });
}

}  // namespace holdfast::faults
