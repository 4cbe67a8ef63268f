#include "backends/zookeeper/lines.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::zookeeper {

namespace {

/// What the session remembers of a line, if that is still all.
base::Coroutine<std::optional<SeenLine>> recall(SessionPtr session, std::string path, bool permits) {
  const base::Future<Reply> asking = permits ? session->get(path) : session->exists(path);
  const Reply& about = co_await asking;
  if (!about.ok()) co_return std::nullopt;
  auto claims = session->lines().recall(path, about.stat);
  if (!claims) co_return std::nullopt;
  SeenLine seen = {.outcome = Outcome::ok, .exists = true, .stat = about.stat};
  const auto semaphore = permits ? SemaphoreData::from(about.text) : std::nullopt;
  seen.line = Line(std::move(claims), semaphore);
  co_return seen;
}

}  // namespace

base::Coroutine<SeenLine> see(SessionPtr session, std::string path, bool permits, Freshness freshness,
                              Session::Watching watching) {
  // All at once: the servers answer one session in order.
  if (freshness == Freshness::newest) static_cast<void>(session->sync(path));
  if (watching == Session::Watching::no && session->lines().has(path)) {
    std::optional<SeenLine> recalled = co_await recall(session, path, permits);
    if (recalled) co_return *std::move(recalled);
  }
  const base::Future<Reply> reading = session->children(path, watching);
  // Later than its claims: those before one of them can only have become fewer, so nobody has its turn too early.
  std::optional<base::Future<Reply>> asking;
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
