#pragma once

#include <string>
#include <utility>

#include "spi/result.hpp"

namespace holdfast::zookeeper {

/// Why there is no connection, in words. No I/O: a Session says what it sees.
class ConnectTrouble {
 public:
  /// `store`: for messages.
  explicit ConnectTrouble(std::string store) : store_(std::move(store)) {}

  /// An attempt has failed. `accepted`: somebody had accepted the connection. `system_error`: errno, or 0.
  void attempt_failed(bool accepted, int system_error);
  /// An attempt took too long.
  void attempt_took_too_long(bool accepted) { last_ = silence(accepted); }
  /// A server has accepted the session.
  void connected() {
    was_connected_ = true;
    last_.clear();
  }

  /// What a request that was never sent fails with. `accepted`: somebody has accepted the present connection.
  spi::Failure failure(bool accepted) const;

 private:
  std::string silence(bool accepted) const;

  const std::string store_;
  std::string last_ = {};  ///< what became of the last attempt that failed
  bool was_connected_ = false;
};

}  // namespace holdfast::zookeeper
