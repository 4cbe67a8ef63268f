#include "backends/redis/connection/inbox.hpp"

#include <charconv>
#include <chrono>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/protocol/failures.hpp"
#include "spi/part_name.hpp"

namespace holdfast::redis {

using base::Instant;
using spi::ClaimAnswer;
using namespace std::chrono_literals;

namespace {

/// Locks that are held for less do not make a client listen.
constexpr base::Duration moment = 250ms;

/// It stays so much longer than it is needed, because whoever waited once often waits again.
constexpr base::Duration lingering = 5s;

}  // namespace

Inbox::Inbox(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup, const Keys& keys,
             std::string_view client, spi::ClaimEvents& events, Listener& listener, CatchUp catch_up)
    : loop_(loop),
      own_channel_(keys.channel_of(client)),
      events_(events),
      listener_(listener),
      catch_up_(std::move(catch_up)),
      connection_(loop, address, tls_setup, *this),
      timer_(loop, [this] { reconsider(); }),
      self_(std::make_shared<Inbox*>(this)) {}

void Inbox::note(const LockName& name, const spi::ClaimId& id, const ClaimAnswer& answer, bool permits, Instant sent) {
  if (answer.standing == ClaimAnswer::Standing::absent) return forget(name, id);
  const bool waits = answer.standing == ClaimAnswer::Standing::waiting;
  // Twice as long as it lasts: it may have been renewed by a request whose answer was lost.
  const Instant now = loop_.now();
  claims_.note(name, id,
               {.permits = permits, .waiting = waits, .since = now, .ends = base::end_of(2 * answer.lease, sent)});
  if (waits) {
    needed_until_ = now + lingering;
    if (!closed_) connection_.want();
  }
  if (sent < open_since_ && open_since_ != Instant::max()) catch_up_soon();
  // Whether it is held for long matters only until something is.
  look_after(waits || held_for_long_ ? lingering : moment);
}

void Inbox::forget(const LockName& name, const spi::ClaimId& id) {
  claims_.forget(name, id);
  if (claims_.empty()) attentive_.reset();
}

void Inbox::tell(const LockName& name, LockKind kind, const spi::ClaimId& id, ClaimAnswer answer) {
  answer.armed_at = Instant::min();
  if (claims_.is_news(name, id, answer.number)) events_.granted(name, kind, id, answer);
}

void Inbox::catch_up_soon() {
  if (std::exchange(catching_up_, true)) return;
  loop_.defer([self = self_] {
    if (*self == nullptr) return;
    (*self)->catching_up_ = false;
    if (!(*self)->closed_) (*self)->catch_up_();
  });
}

bool Inbox::listen(const std::string& channel) {
  Channel& entry = channels_[channel];
  entry.until = loop_.now() + listening_time;
  look_after(listening_time);
  if (entry.subscribed) return true;
  if (connection_.is_up()) {
    subscribe(channel);
  } else if (!closed_) {
    connection_.want();
  }
  return false;
}

void Inbox::close() {
  closed_ = true;
  timer_.cancel();
  attentive_.reset();
  connection_.close();
}

// --- when to listen -------------------------------------------------------------------------------------------------

void Inbox::look_after(base::Duration duration) {
  const Instant due = loop_.now() + duration;
  if (!timer_.armed() || due < timer_.due()) timer_.set(due);
}

bool Inbox::needed() const { return claims_.any_waits() || held_for_long_ || !channels_.empty(); }

void Inbox::reconsider() {
  const Instant now = loop_.now();
  claims_.forget_ended(now);
  for (auto at = channels_.begin(); at != channels_.end();) {
    if (at->second.until > now) {
      ++at;
      continue;
    }
    if (connection_.is_up()) Command().add("UNSUBSCRIBE").add(at->first).write_to(connection_.out());
    at = channels_.erase(at);
  }
  held_for_long_ = claims_.any_held_since(now - moment);
  if (needed()) {
    needed_until_ = now + lingering;
    connection_.want();
  } else if (now >= needed_until_) {
    connection_.close();
    open_since_ = Instant::max();
  }
  if (!held_for_long_) attentive_.reset();
  if (held_for_long_ && !attentive_) attentive_.emplace(loop_, spi::Expectation::Of::upkeep);
  const bool may_become_long = claims_.any_held() && !held_for_long_;
  if (!claims_.empty() || !connection_.is_resting()) look_after(may_become_long ? moment : lingering);
}

// --- the connection -------------------------------------------------------------------------------------------------

void Inbox::connection_up() {
  subscribe(own_channel_);
  for (const auto& [channel, entry] : channels_) subscribe(channel);
}

void Inbox::subscribe(const std::string& channel) {
  Command().add("SUBSCRIBE").add(channel).write_to(connection_.out());
}

void Inbox::connection_down(const spi::Failure&, bool) {
  open_since_ = Instant::max();
  for (auto& [channel, entry] : channels_) entry.subscribed = false;
  if (needed() && !closed_) connection_.want();
}

/// {"subscribe", channel, count} or {"message", channel, text}; others do not matter.
void Inbox::connection_received(Reply& reply) {
  if (reply.is(Reply::Kind::error)) return connection_.drop(spi::Failure{Errc::store_failed, reply.text});
  if (!reply.is(Reply::Kind::array) || reply.elements.size() != 3) return;
  const std::string& kind = reply.elements[0].text;
  const std::string& channel = reply.elements[1].text;
  if (kind == "subscribe") {
    subscribed(channel);
  } else if (kind == "message") {
    channel == own_channel_ ? received(reply.elements[2].text) : listener_.changed(channel);
  }
}

void Inbox::subscribed(const std::string& channel) {
  if (channel == own_channel_) {
    open_since_ = loop_.now();
    return catch_up_soon();
  }
  if (const auto found = channels_.find(channel); found != channels_.end()) found->second.subscribed = true;
  listener_.listening(channel);
}

/// kind, id, "number lease ", key of the line.
void Inbox::received(std::string_view message) {
  constexpr std::size_t before_number = 17;
  if (message.size() < before_number) return;
  const char kind = message[0];
  const spi::ClaimId id = id_from(message.substr(1, 16));
  const char* const end = message.data() + message.size();
  ClaimAnswer answer;
  answer.standing = ClaimAnswer::Standing::granted;
  const auto number = std::from_chars(message.data() + before_number, end, answer.number);
  if (number.ec != std::errc() || number.ptr == end) return;
  spi::milliseconds::rep lease = 0;
  const auto length = std::from_chars(number.ptr + 1, end, lease);
  if (length.ec != std::errc() || length.ptr == end) return;
  answer.lease = spi::milliseconds(lease);
  const Keys::Parsed line = Keys::parse({length.ptr + 1, end});
  const LockName name = spi::PartName::stored(line.name);
  const LockKind line_kind = line.permits ? LockKind::semaphore : LockKind::lock;
  if (kind == 'c') return events_.check(name, line_kind, id);
  note(name, id, answer, line.permits, loop_.now());
  tell(name, line_kind, id, std::move(answer));
}

}  // namespace holdfast::redis
