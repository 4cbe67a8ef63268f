#include "backends/redis/connection/subscriber.hpp"

#include "backends/redis/protocol/command.hpp"

namespace holdfast::redis {

Subscriber::Subscriber(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup)
    : loop_(loop), connection_(loop, address, tls_setup, *this) {}

void Subscriber::subscribe(const std::string& channel, Listener& listener) {
  if (closed_) return;
  const auto [at, is_new] = subscriptions_.try_emplace(channel);
  at->second.listener = &listener;
  if (!connection_.is_up()) return connection_.want();
  if (is_new) Command().add("SUBSCRIBE").add(channel).write_to(connection_.out());
}

void Subscriber::unsubscribe(const std::string& channel) {
  if (subscriptions_.erase(channel) == 0) return;
  if (subscriptions_.empty()) return connection_.close();
  if (connection_.is_up()) Command().add("UNSUBSCRIBE").add(channel).write_to(connection_.out());
}

base::Instant Subscriber::listening_since(const std::string& channel) const {
  const auto found = subscriptions_.find(channel);
  return found == subscriptions_.end() ? base::Instant::max() : found->second.since;
}

void Subscriber::close() {
  closed_ = true;
  subscriptions_.clear();
  connection_.close();
}

void Subscriber::connection_up() {
  for (const auto& [channel, subscription] : subscriptions_) {
    Command().add("SUBSCRIBE").add(channel).write_to(connection_.out());
  }
}

void Subscriber::connection_down(const spi::Failure&, bool) {
  for (auto& [channel, subscription] : subscriptions_) subscription.since = base::Instant::max();
  if (!subscriptions_.empty()) connection_.want();
}

/// {"subscribe", channel, count} or {"message", channel, text}; others do not matter.
void Subscriber::connection_received(Reply& reply) {
  if (reply.is(Reply::Kind::error)) return connection_.drop(spi::Failure{Errc::store_failed, reply.text});
  if (!reply.is(Reply::Kind::array) || reply.elements.size() != 3) return;
  const std::string& kind = reply.elements[0].text;
  const std::string& channel = reply.elements[1].text;
  if (kind == "subscribe") return confirmed(channel);
  if (kind != "message") return;
  if (const auto found = subscriptions_.find(channel); found != subscriptions_.end()) {
    found->second.listener->heard(channel, reply.elements[2].text);
  }
}

/// It may be the confirmation of an earlier subscription to the same channel, which has ended: then that of the present
/// one follows, and whoever listens looks again.
void Subscriber::confirmed(const std::string& channel) {
  const auto found = subscriptions_.find(channel);
  if (found == subscriptions_.end()) return;
  found->second.since = loop_.now();
  found->second.listener->listening(channel);
}

}  // namespace holdfast::redis
