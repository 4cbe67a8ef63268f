#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::faults {

/// What can be done to a store itself, while others use it.
enum class Sabotage : std::uint8_t {
  restart,              ///< it dies, and comes back with all that it acknowledged
  pause,                ///< it stands still for a while
  forget_scripts,       ///< what it was taught is forgotten, but no data
  cut_listeners,        ///< the connections on which waiters are told
  cut_everybody,        ///< all connections, in the middle of whatever is under way
  lose_replies,         ///< requests are executed, but nobody hears of it before all connections are cut
  compact,              ///< what happened while all connections were cut is known no more, only what came of it
  kill_leader,          ///< of several servers; it comes back
  pause_leader,         ///< until another leads
  cut_off_leader,       ///< from the other servers, not from its clients; until another leads
  lose_quorum,          ///< most servers die, for two leases
  restart_empty,        ///< it dies, and comes back without its data
  end_leases,           ///< all of them, or all sessions, by an operator
  forget,               ///< all data are deleted; or all claims, by an operator
  forget_and_set_back,  ///< the same, and its clock is set back as well: more than any promise survives
};

/// Whether nobody can use the store for a while.
constexpr bool takes_away(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::restart:
    case Sabotage::pause:
    case Sabotage::restart_empty:
    case Sabotage::kill_leader:
    case Sabotage::pause_leader:
    case Sabotage::cut_off_leader:
    case Sabotage::lose_quorum: return true;
    default: return false;
  }
}
/// Whether locks that are held are held no more.
constexpr bool forgets(Sabotage sabotage) { return sabotage >= Sabotage::restart_empty; }
std::string_view name_of(Sabotage sabotage);

/// Spends time.
using Pastime = std::function<void(std::chrono::milliseconds)>;

/// A store of its own that several processes can reach, gone when destroyed; and what can be done to it.
class Store {
 public:
  Store() = default;
  virtual ~Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  virtual std::string url() const = 0;

  /// Does it once, and returns when it is over. `length` is how long the store is away, if that is part of it. Says how
  /// many scripts, keys or connections were hit; 0: it did nothing. Called on one and the same thread.
  /// REQUIRES: its kind lists it.
  virtual std::uint64_t do_harm(Sabotage sabotage, std::chrono::milliseconds length) = 0;

  /// What do_harm() does while the store is away; without one it sleeps.
  void set_pastime(Pastime pastime) { pastime_ = std::move(pastime); }

 protected:
  void stay_away(std::chrono::milliseconds length) const {
    if (pastime_) return pastime_(length);
    std::this_thread::sleep_for(length);
  }

 private:
  Pastime pastime_ = {};
};

/// One sort of store, for cases that run for several. Called like its fixture in tests/stores.
struct StoreKind {
  std::string name;
  std::function<std::unique_ptr<Store>()> make;
  std::chrono::milliseconds lease = std::chrono::seconds(1);  ///< for the campaign
  int servers = 1;
  bool fifo = true;                      ///< waiters are served in the order in which they came
  std::vector<Sabotage> sabotages = {};  ///< what its do_harm() can do
  std::vector<Sabotage> controls = {};   ///< the same, and the checker must object
};

void PrintTo(const StoreKind& kind, std::ostream* out);

/// A namespace-scope object of this type, in <backend>_store.cpp, is all it takes to join.
struct RegisterStore {
  explicit RegisterStore(StoreKind kind);
};

/// All that have registered themselves, by name. REQUIRES: main() runs.
const std::vector<StoreKind>& store_kinds();
/// Those for cases in which it does not matter how many servers there are.
std::vector<StoreKind> kinds_with_one_server();

}  // namespace holdfast::faults
