// What the servers tell us without being asked.

#include <chrono>
#include <utility>

#include "backends/zookeeper/claims.hpp"

namespace holdfast::zookeeper {

using spi::ClaimAnswer;
using spi::Nothing;
using spi::Operation;
using namespace std::chrono_literals;

namespace {

/// Who holds for longer wants to know at once when somebody touches its node; others hear of it when they renew.
constexpr base::Duration long_held = 50ms;

}  // namespace

void NodeClaims::check_soon(const ClaimKey& key) {
  loop_.defer([this, key, here = lifetime_.watch()] {
    if (here.lasts() && !closed_) events_.check(key.name, key.kind, key.id);
  });
}

void NodeClaims::listen_later(const ClaimKey& key) {
  held_.push_back({loop_.now(), key});
  if (!long_held_timer_.armed()) long_held_timer_.set(loop_.now() + long_held);
}

/// What happened before we could hear of it is seen. Nobody waits for a lock that is held, so nobody would read what
/// the servers tell of it: as long as it lasts, the client's own thread does.
Operation<Nothing> NodeClaims::listening(ClaimKey key) {
  KnownClaim* const claim = known_.find(key);
  if (!claim->reading) claim->reading = std::make_shared<spi::Expectation>(loop_, spi::Expectation::Of::upkeep);
  known_.listen(*claim->session, claim->path(), key);
  const base::Future<Reply> asking = claim->session->get(claim->path(), Session::Watching::yes);
  const Reply& own = co_await asking;
  if (own.outcome == Outcome::lost || own.outcome == Outcome::not_sent) {
    if (!closed_) listen_later(key);  // nobody knows whether there is a watch
    co_return Nothing{};
  }
  const bool touched = own.outcome == Outcome::no_node || (own.ok() && own.stat.version > 0);
  if (touched && !closed_ && known_.find(key) != nullptr) events_.check(key.name, key.kind, key.id);
  co_return Nothing{};
}

void NodeClaims::listen_to_long_held() {
  const base::Instant now = loop_.now();
  while (!held_.empty() && held_.front().since + long_held <= now) {
    const ClaimKey key = std::move(held_.front().key);
    held_.pop_front();
    const KnownClaim* const claim = known_.find(key);
    if (claim == nullptr || claim->waiting) continue;
    listening(key).start();
  }
  if (!held_.empty()) long_held_timer_.set(held_.front().since + long_held);
}

void NodeClaims::node_changed(Session& session, const std::string& path) {
  if (closed_) return;
  for (const ClaimKey& key : known_.take_listeners(session, path)) {
    KnownClaim* const claim = known_.find(key);
    if (claim == nullptr) continue;
    if (claim->ahead == path) claim->ahead.clear();
    if (claim->waiting && claim->path() != path) {
      looking(key).start();
    } else {
      events_.check(key.name, key.kind, key.id);
    }
  }
}

/// Its turn may have come: then the core need not ask.
Operation<Nothing> NodeClaims::looking(ClaimKey key) {
  const KnownClaim* const claim = known_.find(key);
  SeenLine seen = co_await see(claim->session, claim->line, key.permits(), Freshness::at_least_ours);
  auto found = co_await standing(key, std::move(seen));
  if (closed_ || !found.ok()) co_return Nothing{};  // the core's own renewals will do
  ClaimAnswer& answer = found.value();
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
  known_.forget_listeners(session);
  for (const ClaimKey& key : known_.of_session(session)) check_soon(key);
}

}  // namespace holdfast::zookeeper
