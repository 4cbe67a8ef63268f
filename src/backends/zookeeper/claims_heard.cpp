// What the servers tell us without being asked.

#include <chrono>
#include <utility>

#include "backends/zookeeper/claims.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using namespace std::chrono_literals;

namespace {

/// Who holds for longer wants to know at once when somebody touches its node; others hear of it when they renew.
constexpr base::Duration long_held = 50ms;

}  // namespace

void NodeClaims::check_soon(const ClaimKey& key) {
  loop_.defer([this, key, alive = alive_] {
    if (*alive) events_.check(key.name, key.kind, key.id);
  });
}

void NodeClaims::listen_later(const ClaimKey& key) {
  held_.push_back({loop_.now(), key});
  if (!long_held_timer_.armed()) long_held_timer_.set(loop_.now() + long_held);
}

/// What happened before we could hear of it is seen. Nobody waits for a lock that is held, so nobody would read what
/// the servers tell of it: as long as it lasts, the client's own thread does.
Detached NodeClaims::run_listen(ClaimKey key) {
  KnownClaim* const claim = known_.find(key);
  if (!claim->reading) claim->reading = std::make_shared<spi::Expectation>(loop_, spi::Expectation::Of::upkeep);
  known_.listen(*claim->session, claim->path(), key);
  const Sent asking = claim->session->get(claim->path(), Session::Watching::yes);
  const Reply& own = co_await asking;
  if (own.outcome == Outcome::lost || own.outcome == Outcome::not_sent) {
    if (*alive_) listen_later(key);  // nobody knows whether there is a watch
    co_return;
  }
  const bool touched = own.outcome == Outcome::no_node || (own.ok() && own.stat.version > 0);
  if (touched && *alive_ && known_.find(key) != nullptr) events_.check(key.name, key.kind, key.id);
}

void NodeClaims::listen_to_long_held() {
  const base::Instant now = loop_.now();
  while (!held_.empty() && held_.front().since + long_held <= now) {
    const ClaimKey key = std::move(held_.front().key);
    held_.pop_front();
    const KnownClaim* const claim = known_.find(key);
    if (claim == nullptr || claim->waiting) continue;
    run_listen(key);
  }
  if (!held_.empty()) long_held_timer_.set(held_.front().since + long_held);
}

void NodeClaims::node_changed(Session& session, const std::string& path) {
  if (!*alive_) return;
  for (const ClaimKey& key : known_.take_listeners(session, path)) {
    KnownClaim* const claim = known_.find(key);
    if (claim == nullptr) continue;
    if (claim->ahead == path) claim->ahead.clear();
    if (claim->waiting && claim->path() != path) {
      run_look(key);
    } else {
      events_.check(key.name, key.kind, key.id);
    }
  }
}

/// Its turn may have come: then the core need not ask.
Detached NodeClaims::run_look(ClaimKey key) {
  const KnownClaim* const claim = known_.find(key);
  const bool permits = claim->mode.kind == ClaimMode::permits;
  const Flow<SeenLine> seeing = see(claim->session, claim->line, permits, Freshness::at_least_ours);
  SeenLine seen = co_await seeing;
  const Flow<Standing> standing = stand(key, std::move(seen));
  Standing where = co_await standing;
  if (!*alive_ || !where.ok()) co_return;  // the core's own renewals will do
  ClaimAnswer& answer = where.value();
  if (answer.standing == ClaimAnswer::Standing::granted) {
    answer.armed_at = base::Instant::min();
    events_.granted(key.name, key.kind, key.id, answer);
  } else if (answer.standing == ClaimAnswer::Standing::absent || answer.check_after > 0ms) {
    events_.check(key.name, key.kind, key.id);
  }
}

void NodeClaims::session_resumed(Session& session) {
  for (const ClaimKey& key : known_.of_session(session)) {
    if (known_.find(key)->waiting) check_soon(key);
  }
}

void NodeClaims::session_ended(Session& session) {
  known_.forget_listeners(session);
  for (const ClaimKey& key : known_.of_session(session)) check_soon(key);
}

}  // namespace holdfast::zookeeper
