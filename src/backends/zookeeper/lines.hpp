#pragma once

#include <optional>
#include <string>

#include "backends/zookeeper/flow.hpp"
#include "backends/zookeeper/nodes.hpp"
#include "backends/zookeeper/reply.hpp"
#include "backends/zookeeper/sessions.hpp"

namespace holdfast::zookeeper {

/// A line as it was seen.
struct SeenLine {
  Outcome outcome = Outcome::not_sent;  ///< ok also if there is no such line: then it is empty
  Reply reply = {};                     ///< if it is not ok
  bool exists = false;
  Line line = {};
  NodeStat stat = {};     ///< of the node that has the claims
  std::string data = {};  ///< of a semaphore
  bool ok() const { return outcome == Outcome::ok; }
};

enum class Freshness : std::uint8_t {
  at_least_ours,  ///< it contains what this session has done
  newest,         ///< and what anybody did before
};

/// Reads a line; `watching` hears of every change of it.
inline Flow<SeenLine> see(SessionPtr session, std::string path, bool permits, Freshness freshness,
                          Session::Watching watching = Session::Watching::no) {
  // All at once: the servers answer one session in order.
  std::optional<Sent> synced;
  std::optional<Sent> data;
  if (freshness == Freshness::newest) synced = session->sync(path);
  if (permits) data = session->get(path, watching);
  Sent children = session->children(path, watching);
  if (synced) co_await *synced;
  SeenLine seen;
  std::optional<SemaphoreData> semaphore;
  if (data) {
    Reply& reply = co_await *data;
    if (reply.ok()) {
      seen.data = reply.text;
      semaphore = SemaphoreData::from(reply.text);
      seen.stat = reply.stat;
    }
  }
  Reply& reply = co_await children;
  seen.outcome = reply.outcome;
  if (reply.ok()) {
    seen.exists = true;
    seen.stat = reply.stat;
    seen.line = Line::from(reply.children, semaphore);
  } else if (reply.outcome == Outcome::no_node) {
    seen.outcome = Outcome::ok;
  } else {
    seen.reply = reply;
  }
  co_return seen;
}

}  // namespace holdfast::zookeeper
