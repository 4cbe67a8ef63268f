#pragma once

#include <string>

#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/reply.hpp"
#include "backends/zookeeper/sessions.hpp"
#include "base/coroutine.hpp"

namespace holdfast::zookeeper {

/// A line as it was seen.
struct SeenLine {
  Outcome outcome = Outcome::not_sent;  ///< ok also if there is no such line: then it is empty
  Reply reply = {};                     ///< if it is not ok
  bool exists = false;
  Line line = {};
  NodeStat stat = {};  ///< of the node that has the claims
  bool ok() const { return outcome == Outcome::ok; }
};

enum class Freshness : std::uint8_t {
  at_least_ours,  ///< it contains what this session has done
  newest,         ///< and what anybody did before
};

/// Reads a line; `watching` hears of every change of it.
base::Coroutine<SeenLine> see(SessionPtr session, std::string path, bool permits, Freshness freshness,
                              Session::Watching watching = Session::Watching::no);

}  // namespace holdfast::zookeeper
