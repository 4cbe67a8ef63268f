#pragma once

#include <string>
#include <vector>

#include "kit/url/host.hpp"

namespace holdfast::zookeeper {

/// The addresses of an ensemble as the library takes them: "10.0.0.1:2181,::1:2181". In random order, so that clients
/// spread over the servers, and without repetitions.
struct ServerList {
  std::string text = {};
  int error = 0;  ///< of getaddrinfo(); then the list is empty
  std::size_t size() const;

  /// All hosts must be numbers. Never blocks.
  static ServerList of_numbers(const std::vector<kit::Host>& hosts);
  /// Hosts may be names; those that are not found are left out, if others are. Blocks.
  static ServerList look_up(const std::vector<kit::Host>& hosts);
};

}  // namespace holdfast::zookeeper
