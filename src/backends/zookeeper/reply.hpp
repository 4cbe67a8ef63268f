#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::zookeeper {

/// What the servers tell about a node besides its data.
struct NodeStat {
  std::uint64_t created = 0;       ///< czxid: the number of the change that made it
  std::int64_t created_at = 0;     ///< milliseconds of the time of day, by the leader's clock
  std::int64_t changed_at = 0;     ///< the same for its data
  std::int64_t owner = 0;          ///< the session of an ephemeral node
  std::uint64_t data_changed = 0;  ///< mzxid
  std::int32_t version = 0;        ///< of its data
  std::int64_t children_ever = 0;  ///< how many were created: the sequence of the next one
  std::int32_t changes = 0;        ///< cversion: how many children were created and how many removed, together
};

/// How a request ended.
enum class Outcome : std::uint8_t {
  ok,
  no_node,
  node_exists,
  other_version,
  not_empty,
  no_access,
  session_ended,
  lost,      ///< the connection broke, and nobody knows whether it was executed
  not_sent,  ///< it was not executed
  failed,    ///< Reply::text says how
};

struct Reply {
  Outcome outcome = Outcome::not_sent;
  std::string text = {};  ///< the path of a new node, the data, or what went wrong
  NodeStat stat = {};
  std::vector<std::string> children = {};

  bool ok() const { return outcome == Outcome::ok; }
};

}  // namespace holdfast::zookeeper
