#pragma once

#include <optional>
#include <string>
#include <vector>

namespace holdfast::bench {

/// A store with a server: where it is, and what Holdfast is compared with there. The benchmarks of this folder know it
/// by no more than this; bench/etcd and bench/zookeeper have one each, and are a program each.
struct Store {
  std::string url;      ///< for Holdfast
  std::string address;  ///< for others: host:port

  std::string raw;           ///< the least that a lock could do there: what it is
  std::string peer;          ///< what others use
  std::string peer_program;  ///< in the folder of the peers

  /// What Holdfast's figures should be, as ratios.
  double pair_to_raw;
  double spread_to_peer;
  double processes_to_peer;

  /// How to start the peer; nothing if nobody asked for peers (script/bench --peers).
  std::optional<std::vector<std::string>> peer_command() const;
};

/// Starts the server on first use; it ends with this program. Throws if it does not start.
const Store& store();

}  // namespace holdfast::bench
