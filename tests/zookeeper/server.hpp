#pragma once

#include <string>

#include "support/zookeeper_server.hpp"

namespace holdfast::zookeeper_suite {

/// One for all cases of a process; each uses a prefix of its own.
inline test::ZookeeperServer& server() {
  static test::ZookeeperServer one;
  return one;
}

inline std::string new_prefix() {
  static int made = 0;
  return "prefix-" + std::to_string(++made);
}

}  // namespace holdfast::zookeeper_suite
