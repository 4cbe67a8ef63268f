#pragma once

#include <string>

#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/reply.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "base/coroutine.hpp"

namespace holdfast::zookeeper {

/// A line as the servers had it when they were asked.
struct LineSnapshot {
  Outcome outcome = Outcome::not_sent;  ///< also ok if the line does not exist: then it is empty
  Reply reply = {};                     ///< the failure, if the outcome is not ok
  bool exists = false;
  Line line = {};
  NodeStat stat = {};  ///< of the node that has the claims
  bool ok() const { return outcome == Outcome::ok; }
};

enum class Freshness : std::uint8_t {
  at_least_ours,  ///< contains what this session has done before
  newest,         ///< also contains what anybody else has done before
};

/// Reads a line. With `watching`, the client hears of its next change.
base::Coroutine<LineSnapshot> reading_line(SessionPtr session, std::string path, bool permits, Freshness freshness,
                                           Session::Watching watching = Session::Watching::no);

}  // namespace holdfast::zookeeper
