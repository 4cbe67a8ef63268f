#include "backends/zookeeper/line_snapshot.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace holdfast::zookeeper {

namespace {

/// The line as the session has cached it, if that is still up to date.
base::Coroutine<std::optional<LineSnapshot>> reading_cached(SessionPtr session, std::string path, bool permits) {
  const base::Future<Reply> reading = permits ? session->get(path) : session->exists(path);
  const Reply& about = co_await reading;
  if (!about.ok()) co_return std::nullopt;
  auto claims = session->line_cache().find(path, about.stat);
  if (!claims) co_return std::nullopt;
  LineSnapshot snapshot = {.outcome = Outcome::ok, .exists = true, .stat = about.stat};
  const auto semaphore = permits ? SemaphoreData::from(about.text) : std::nullopt;
  snapshot.line = Line(std::move(claims), semaphore);
  co_return snapshot;
}

}  // namespace

base::Coroutine<LineSnapshot> reading_line(SessionPtr session, std::string path, bool permits, Freshness freshness,
                                           Session::Watching watching) {
  // Everything is sent at once, because the servers execute the requests of one session in order.
  if (freshness == Freshness::newest) static_cast<void>(session->sync(path));
  if (watching == Session::Watching::no && session->line_cache().has(path)) {
    std::optional<LineSnapshot> cached = co_await reading_cached(session, path, permits);
    if (cached) co_return *std::move(cached);
  }
  const base::Future<Reply> reading = session->children(path, watching);
  // The semaphore's data are read after its claims: until then, those ahead of a claim can only have become fewer, so
  // no claim is taken to be granted too early.
  std::optional<base::Future<Reply>> reading_total;
  if (permits) reading_total = session->get(path, watching);
  LineSnapshot snapshot;
  Reply& read = co_await reading;
  snapshot.outcome = read.outcome;
  std::shared_ptr<const Entries> claims;
  if (read.ok()) {
    snapshot.exists = true;
    snapshot.stat = read.stat;
    claims = session->line_cache().read(path, read.stat, read.children);
  } else if (read.outcome == Outcome::no_node) {
    snapshot.outcome = Outcome::ok;
  } else {
    snapshot.reply = std::move(read);
  }
  std::optional<SemaphoreData> semaphore;
  if (reading_total) {
    const Reply& about = co_await *reading_total;
    if (about.ok()) semaphore = SemaphoreData::from(about.text);
  }
  if (claims) snapshot.line = Line(std::move(claims), semaphore);
  co_return snapshot;
}

}  // namespace holdfast::zookeeper
