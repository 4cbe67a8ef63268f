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
  NodeStat stat = {};  ///< of the node that has the claims
  bool ok() const { return outcome == Outcome::ok; }
};

enum class Freshness : std::uint8_t {
  at_least_ours,  ///< it contains what this session has done
  newest,         ///< and what anybody did before
};

/// What the session remembers of a line, if that is still all.
inline Flow<std::optional<SeenLine>> recall(SessionPtr session, std::string path, bool permits) {
  const Sent asking = permits ? session->get(path) : session->exists(path);
  const Reply& about = co_await asking;
  if (!about.ok()) co_return std::nullopt;
  auto claims = session->lines().recall(path, about.stat);
  if (!claims) co_return std::nullopt;
  SeenLine seen = {.outcome = Outcome::ok, .exists = true, .stat = about.stat};
  const auto semaphore = permits ? SemaphoreData::from(about.text) : std::nullopt;
  seen.line = Line(std::move(claims), semaphore);
  co_return seen;
}

/// Reads a line; `watching` hears of every change of it.
inline Flow<SeenLine> see(SessionPtr session, std::string path, bool permits, Freshness freshness,
                          Session::Watching watching = Session::Watching::no) {
  // All at once: the servers answer one session in order.
  std::optional<Sent> syncing;
  if (freshness == Freshness::newest) syncing = session->sync(path);
  if (watching == Session::Watching::no && session->lines().has(path)) {
    const Flow<std::optional<SeenLine>> recalling = recall(session, path, permits);
    std::optional<SeenLine> recalled = co_await recalling;
    if (recalled) co_return *std::move(recalled);
  }
  const Sent reading = session->children(path, watching);
  // Later than its claims: those before one of them can only have become fewer, so nobody has its turn too early.
  std::optional<Sent> asking;
  if (permits) asking = session->get(path, watching);
  SeenLine seen;
  Reply& read = co_await reading;
  seen.outcome = read.outcome;
  std::shared_ptr<const Entries> claims;
  if (read.ok()) {
    seen.exists = true;
    seen.stat = read.stat;
    claims = session->lines().read(path, read.stat, read.children);
  } else if (read.outcome == Outcome::no_node) {
    seen.outcome = Outcome::ok;
  } else {
    seen.reply = std::move(read);
  }
  std::optional<SemaphoreData> semaphore;
  if (asking) {
    const Reply& about = co_await *asking;
    if (about.ok()) semaphore = SemaphoreData::from(about.text);
  }
  if (claims) seen.line = Line(std::move(claims), semaphore);
  co_return seen;
}

}  // namespace holdfast::zookeeper
