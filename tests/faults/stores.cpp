// The stores that the cases for all stores run with. Another one joins by a line here.

#include <stdexcept>

#include "faults/etcd_store.hpp"
#include "faults/redis_store.hpp"
#include "faults/sqlite_store.hpp"
#include "faults/store.hpp"
#include "faults/zookeeper_store.hpp"

namespace holdfast::faults {

std::string_view name_of(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::restart: return "restart";
    case Sabotage::pause: return "pause";
    case Sabotage::forget_scripts: return "forget_scripts";
    case Sabotage::cut_listeners: return "cut_listeners";
    case Sabotage::cut_everybody: return "cut_everybody";
    case Sabotage::lose_replies: return "lose_replies";
    case Sabotage::compact: return "compact";
    case Sabotage::kill_leader: return "kill_leader";
    case Sabotage::pause_leader: return "pause_leader";
    case Sabotage::cut_off_leader: return "cut_off_leader";
    case Sabotage::lose_quorum: return "lose_quorum";
    case Sabotage::restart_empty: return "restart_empty";
    case Sabotage::forget: return "forget";
    case Sabotage::end_leases: return "end_leases";
    case Sabotage::forget_and_set_back: return "forget_and_set_back";
  }
  return "?";
}

std::uint64_t SqliteStore::do_harm(Sabotage sabotage, std::chrono::milliseconds) {
  throw std::invalid_argument("nobody can do this to a file: " + std::string(name_of(sabotage)));
}

void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds = {
      {.name = "sqlite", .make = [] { return std::make_unique<SqliteStore>(); }},
      {.name = "redis",
       .make = [] { return std::make_unique<RedisStore>(RedisStore::Layout::queue); },
       .sabotages = {Sabotage::restart, Sabotage::pause, Sabotage::forget_scripts, Sabotage::cut_listeners,
                     Sabotage::cut_everybody, Sabotage::restart_empty, Sabotage::forget},
       .controls = {Sabotage::forget_and_set_back}},
      {.name = "redis_plain",
       .make = [] { return std::make_unique<RedisStore>(RedisStore::Layout::plain); },
       .fifo = false,
       .sabotages = {Sabotage::restart}},
      {.name = "etcd",
       .make = [] { return std::make_unique<EtcdStore>(); },
       .sabotages = {Sabotage::restart, Sabotage::pause, Sabotage::cut_everybody, Sabotage::lose_replies,
                     Sabotage::compact, Sabotage::forget, Sabotage::end_leases}},
      // Of what has three servers, what needs them.
      {.name = "etcd_cluster",
       .make = [] { return std::make_unique<EtcdClusterStore>(); },
       .lease = std::chrono::seconds(2),
       .servers = 3,
       .sabotages = {Sabotage::kill_leader, Sabotage::pause_leader, Sabotage::cut_off_leader, Sabotage::lose_quorum}},
      {.name = "zookeeper",
       .make = [] { return std::make_unique<ZookeeperStore>(); },
       .lease = std::chrono::seconds(2),
       .sabotages = {Sabotage::restart, Sabotage::pause, Sabotage::cut_everybody, Sabotage::lose_replies,
                     Sabotage::forget, Sabotage::end_leases}},
      {.name = "zookeeper_ensemble",
       .make = [] { return std::make_unique<ZookeeperEnsembleStore>(); },
       .lease = std::chrono::seconds(2),
       .servers = 3,
       .sabotages = {Sabotage::kill_leader, Sabotage::pause_leader, Sabotage::cut_off_leader, Sabotage::lose_quorum}},
  };
  return kinds;
}

std::vector<StoreKind> kinds_with_one_server() {
  std::vector<StoreKind> kinds = store_kinds();
  std::erase_if(kinds, [](const StoreKind& kind) { return kind.servers > 1; });
  return kinds;
}

}  // namespace holdfast::faults
