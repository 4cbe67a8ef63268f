// Watches: what the servers tell without being asked.

#include <chrono>
#include <utility>

#include "backends/zookeeper/claims.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::Nothing;
using spi::Operation;
using namespace std::chrono_literals;

namespace {

/// A claim that has been held for so long is watched, so that its holder hears at once when somebody changes or removes
/// its node. A shorter hold is not worth the request; a renewal would tell, too.
constexpr base::Duration long_held = 50ms;

}  // namespace

void NodeClaims::check_soon(const ClaimKey& key) {
  loop_.defer([this, key, here = lifetime_.watch()] {
    if (here.lasts() && !closed_) events_.check(key.name, key.kind, key.id);
  });
}

void NodeClaims::watch_later(const ClaimKey& key) {
  recent_grants_.push_back({loop_.now(), key});
  if (!watch_timer_.armed()) watch_timer_.set(loop_.now() + long_held);
}

/// Sets a watch on the node of a claim that is held. The answer shows what happened before.
///
/// Nobody waits for a lock that is held, so no thread would read what the servers tell about it: as long as the claim
/// is known, the client's own thread does.
Operation<Nothing> NodeClaims::watching_held(ClaimKey key) {
  KnownClaim* const claim = known_.find(key);
  if (!claim->reading) claim->reading = std::make_shared<spi::Expectation>(loop_, spi::Expectation::Of::upkeep);
  known_.watch(*claim->session, claim->path(), key);
  const base::Future<Reply> reading = claim->session->get(claim->path(), Session::Watching::yes);
  const Reply& own = co_await reading;
  if (own.outcome == Outcome::lost || own.outcome == Outcome::not_sent) {
    if (!closed_) watch_later(key);  // nobody knows whether the watch was set
    co_return Nothing{};
  }
  const bool touched = own.outcome == Outcome::no_node || (own.ok() && own.stat.version > 0);
  if (touched && !closed_ && known_.find(key) != nullptr) events_.check(key.name, key.kind, key.id);
  co_return Nothing{};
}

void NodeClaims::watch_long_held() {
  const base::Instant now = loop_.now();
  while (!recent_grants_.empty() && recent_grants_.front().since + long_held <= now) {
    const ClaimKey key = std::move(recent_grants_.front().key);
    recent_grants_.pop_front();
    const KnownClaim* const claim = known_.find(key);
    if (claim == nullptr || claim->waiting) continue;
    watching_held(key).start();
  }
  if (!recent_grants_.empty()) watch_timer_.set(recent_grants_.front().since + long_held);
}

void NodeClaims::node_changed(Session& session, const std::string& path) {
  if (closed_) return;
  for (const ClaimKey& key : known_.take_watchers(session, path)) {
    KnownClaim* const claim = known_.find(key);
    if (claim == nullptr) continue;
    if (claim->ahead == path) claim->ahead.clear();
    if (claim->waiting && claim->path() != path) {
      checking(key).start();
    } else {
      events_.check(key.name, key.kind, key.id);
    }
  }
}

/// What a waiting claim waited for has changed. If it is granted now, the core is told all about it and need not ask.
Operation<Nothing> NodeClaims::checking(ClaimKey key) {
  const KnownClaim* const claim = known_.find(key);
  LineSnapshot snapshot = co_await reading_line(claim->session, claim->line, key.permits(), Freshness::at_least_ours);
  auto refreshed = co_await refreshing(key, std::move(snapshot));
  if (closed_ || !refreshed.ok()) co_return Nothing{};  // the next renewal tells
  ClaimAnswer& answer = refreshed.value();
  if (answer.standing == ClaimAnswer::Standing::granted) {
    answer.armed_at = base::Instant::min();
    events_.granted(key.name, key.kind, key.id, answer);
  } else if (answer.standing == ClaimAnswer::Standing::absent || answer.check_after > 0ms) {
    events_.check(key.name, key.kind, key.id);
  }
  co_return Nothing{};
}

void NodeClaims::session_resumed(Session& session) {
  for (const ClaimKey& key : known_.of_session(session)) {
    if (known_.find(key)->waiting) check_soon(key);
  }
}

void NodeClaims::session_ended(Session& session) {
  known_.forget_watchers(session);
  for (const ClaimKey& key : known_.of_session(session)) check_soon(key);
}

}  // namespace holdfast::zookeeper
