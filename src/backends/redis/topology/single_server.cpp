#include "backends/redis/topology/single_server.hpp"

#include <utility>

#include "backends/redis/connection/eviction.hpp"

namespace holdfast::redis {

SingleServer::SingleServer(spi::Loop& loop, ServerAddress address, std::function<void(std::string)> warn)
    : address_(std::move(address)),
      tls_setup_(loop, address_),
      pipeline_(loop, address_, tls_setup_),
      subscriber_(loop, address_, tls_setup_) {
  if (warn) {
    pipeline_.when_first_up(
        [this, warn = std::move(warn)]() mutable { warn_about_eviction(pipeline_, std::move(warn)); });
  }
}

void SingleServer::close() {
  pipeline_.close();
  subscriber_.close();
}

}  // namespace holdfast::redis
