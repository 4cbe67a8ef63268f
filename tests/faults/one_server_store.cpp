#include "faults/one_server_store.hpp"

#include <stdexcept>
#include <thread>

namespace holdfast::faults {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

std::uint64_t OneServerStore::do_harm(Sabotage sabotage, milliseconds length) {
  switch (sabotage) {
    case Sabotage::restart: return restart(length);
    case Sabotage::pause:
      pause();
      stay_away(length);
      resume();
      return length > 0ms ? 1 : 0;
    case Sabotage::cut_everybody: return proxy().reset();
    case Sabotage::lose_replies: return lose_replies();
    case Sabotage::forget: return forget();
    case Sabotage::end_leases: return end_leases();
    default: throw std::invalid_argument("nobody can do this to one server: " + std::string(name_of(sabotage)));
  }
}

std::uint64_t OneServerStore::restart(milliseconds length) {
  const std::size_t before = claims().size();
  kill();
  stay_away(length);
  start();
  if (before > 0 && claims().empty()) throw std::runtime_error("the server has not kept its data");
  return before;
}

std::uint64_t OneServerStore::lose_replies() {
  constexpr auto deafness = 100ms;
  const std::size_t before = proxy().lost();
  proxy().lose_replies();
  std::this_thread::sleep_for(deafness);
  proxy().reset();
  return proxy().lost() - before;
}

}  // namespace holdfast::faults
