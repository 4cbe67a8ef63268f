#include "backends/zookeeper/sessions.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <utility>

namespace holdfast::zookeeper {

using spi::milliseconds;
using namespace std::chrono_literals;

namespace {

constexpr milliseconds usual_timeout = 10s;
// The library counts milliseconds in an int, and takes twice the timeout.
constexpr milliseconds longest_timeout = std::chrono::hours(24 * 7);

/// Whether a claim that wants `lease` would be given nothing better by a session of its own.
bool suits(const Session& session, milliseconds lease) {
  const milliseconds asked = session.asked();
  const milliseconds granted = session.timeout() > 0ms ? session.timeout() : asked;
  if (lease > granted) return granted < asked;  // that is all this ensemble grants
  return granted > asked || granted <= lease + lease / 4;
}

}  // namespace

SessionPtr Sessions::for_lease(milliseconds lease) {
  forget_ended();
  lease = std::min(lease, longest_timeout);
  for (const SessionPtr& session : sessions_) {
    if (!suits(*session, lease)) continue;
    session->used();
    return session;
  }
  if (closed_) {
    const auto ended = std::make_shared<Session>(loop_, address_, lease, owner_);
    ended->close();
    return ended;
  }
  sessions_.push_back(std::make_shared<Session>(loop_, address_, lease, owner_));
  sessions_.back()->open();
  close_unused_later();
  return sessions_.back();
}

SessionPtr Sessions::any() {
  forget_ended();
  for (const SessionPtr& session : sessions_) {
    if (session->is_up()) return session;
  }
  return sessions_.empty() ? for_lease(usual_timeout) : sessions_.front();
}

SessionPtr Sessions::with_id(std::int64_t id) const {
  for (const SessionPtr& session : sessions_) {
    if (!session->has_ended() && session->id() == id) return session;
  }
  return nullptr;
}

spi::Failure Sessions::why_not_sent() const {
  for (const SessionPtr& session : sessions_) {
    if (!session->is_up()) return session->why_not_up();
  }
  return {Errc::unreachable, address_.shown() + " did not answer in time"};
}

std::string Sessions::node_of(std::int64_t session) const {
  std::array<char, 24> text = {};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(session));
  return nodes_.sessions() + "/" + text.data();
}

void Sessions::forget_ended() {
  std::erase_if(sessions_, [](const SessionPtr& session) { return session->has_ended(); });
}

/// Whoever uses a session holds it, and so does a claim.
void Sessions::close_unused() {
  forget_ended();
  const std::vector<SessionPtr> all = sessions_;
  constexpr long held_here = 2;
  for (const SessionPtr& session : all) {
    if (session.use_count() > held_here + session->own_uses()) session->used();
    if (sessions_.size() < 2 || session->unused_since() + 2 * session->asked() > loop_.now()) continue;
    std::erase(sessions_, session);
    session->close();
  }
  close_unused_later();
}

void Sessions::close_unused_later() {
  if (sessions_.size() < 2 || idle_timer_.armed()) return;
  milliseconds shortest = longest_timeout;
  for (const SessionPtr& session : sessions_) shortest = std::min(shortest, session->asked());
  idle_timer_.set(loop_.now() + shortest / 2);
}

void Sessions::close() {
  closed_ = true;
  idle_timer_.cancel();
  for (const SessionPtr& session : std::exchange(sessions_, {})) session->close();
}

base::Coroutine<Reply> Sessions::make_path(SessionPtr session, std::string path, Session::Lasting lasting) {
  // From the root down, all at once.
  std::deque<base::Future<Reply>> making;
  for (std::size_t end = nodes_.root().size(); end != std::string::npos; end = path.find('/', end + 1)) {
    making.push_back(session->create(path.substr(0, end), {}, lasting));
  }
  if (path != nodes_.root()) making.push_back(session->create(path, {}, lasting));
  Reply made;
  made.outcome = Outcome::ok;
  for (const base::Future<Reply>& each : making) {
    Reply& reply = co_await each;
    const bool there = reply.ok() || reply.outcome == Outcome::node_exists;
    if (!there && made.ok()) made = std::move(reply);
  }
  co_return made;
}

base::Coroutine<Reply> Sessions::heartbeat(SessionPtr session) {
  const std::string path = node_of(session->id());
  Reply written = co_await session->set(path, {});
  if (written.outcome != Outcome::no_node) co_return written;
  Reply created = co_await session->create(path, {}, Session::Lasting::ephemeral);
  if (created.outcome == Outcome::no_node) {
    Reply made = co_await make_path(session, nodes_.sessions(), Session::Lasting::container);
    if (!made.ok()) co_return made;
    created = co_await session->create(path, {}, Session::Lasting::ephemeral);
  }
  if (created.outcome != Outcome::node_exists) co_return created;
  written = co_await session->set(path, {});  // another heartbeat has created it meanwhile
  co_return written;
}

spi::Operation<spi::Nothing> until_up(SessionPtr session, CallPtr call) {
  while (!session->is_up() && !session->has_ended() && !call->over()) co_await session->change();
  if (call->over()) co_return nobody_waits();
  if (!session->is_up()) co_return session->why_not_up();
  co_return spi::Nothing{};
}

}  // namespace holdfast::zookeeper
