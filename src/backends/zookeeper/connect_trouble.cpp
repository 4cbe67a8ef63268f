#include "backends/zookeeper/connect_trouble.hpp"

#include <cerrno>
#include <system_error>

namespace holdfast::zookeeper {

void ConnectTrouble::attempt_failed(bool accepted, int system_error) {
  const bool hung_up = system_error == EHOSTDOWN;  // the library's word for the end of a connection
  if (accepted || hung_up) {
    last_ = store_ +
            " accepts connections and closes them: it is no ZooKeeper "
            "server, or one that does not serve now";
  } else if (system_error != 0 && system_error != EINPROGRESS) {
    last_ = "cannot connect to " + store_ + ": " + std::generic_category().message(system_error);
  }
}

spi::Failure ConnectTrouble::failure(bool accepted) const {
  if (!last_.empty()) return {Errc::unreachable, last_};
  if (was_connected_) return {Errc::unreachable, "the connection to " + store_ + " was lost"};
  return {Errc::unreachable, silence(accepted)};
}

std::string ConnectTrouble::silence(bool accepted) const {
  return accepted ? store_ +
                        " accepted a connection, but does not answer; is "
                        "it a ZooKeeper server?"
                  : store_ + " accepted no connection in time";
}

}  // namespace holdfast::zookeeper
