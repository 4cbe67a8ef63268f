#include "backends/redis/layouts/queue_notices.hpp"

#include <charconv>
#include <chrono>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "spi/part_name.hpp"

namespace holdfast::redis {

using base::Instant;
using spi::ClaimAnswer;
using namespace std::chrono_literals;

namespace {

/// Locks that are held for less do not make a client listen.
constexpr base::Duration moment = 250ms;

/// It listens so much longer than it needs to, because whoever waited once often waits again.
constexpr base::Duration lingering = 5s;

}  // namespace

QueueNotices::QueueNotices(spi::Loop& loop, Channels& channels, const Keys& keys, std::string_view client,
                           spi::ClaimEvents& events, CatchUp catch_up)
    : loop_(loop),
      channels_(channels),
      channel_(keys.channel_of(client)),
      events_(events),
      catch_up_(std::move(catch_up)),
      timer_(loop, [this] { reconsider(); }) {}

// --- what is known of the claims ------------------------------------------------------------------------------------

void QueueNotices::note(const spi::ClaimRef& claim, const ClaimAnswer& answer, Instant sent) {
  if (answer.standing == ClaimAnswer::Standing::absent) return forget(claim);
  const bool waits = answer.standing == ClaimAnswer::Standing::waiting;
  // Twice as long as it lasts: it may have been renewed by a request whose answer was lost.
  const Instant now = loop_.now();
  claims_.note(claim, {.waiting = waits, .since = now, .ends = base::end_of(2 * answer.lease, sent)});
  if (waits) {
    needed_until_ = now + lingering;
    listen();
  }
  if (listens_) {
    const Instant since = channels_.listening_since(channel_);
    if (sent < since && since != Instant::max()) catch_up_soon();
  }
  // Whether it is held for long matters only until something is.
  reconsider_within(waits || held_for_long_ ? lingering : moment);
}

void QueueNotices::forget(const spi::ClaimRef& claim) {
  claims_.forget(claim);
  if (claims_.empty()) attentive_.reset();
}

void QueueNotices::tell(const spi::ClaimRef& claim, ClaimAnswer answer) {
  answer.armed_at = Instant::min();
  if (claims_.is_news(claim, answer.number)) events_.granted(claim.name, claim.kind, claim.id, answer);
}

void QueueNotices::catch_up_soon() {
  if (std::exchange(catching_up_, true)) return;
  loop_.defer([this, here = lifetime_.watch()] {
    if (!here.lasts()) return;
    catching_up_ = false;
    if (!closed_) catch_up_();
  });
}

void QueueNotices::close() {
  closed_ = true;
  timer_.cancel();
  attentive_.reset();
}

// --- when to listen -------------------------------------------------------------------------------------------------

void QueueNotices::listen() {
  if (closed_ || std::exchange(listens_, true)) return;
  channels_.subscribe(channel_, *this);
}

void QueueNotices::reconsider_within(base::Duration duration) {
  const Instant due = loop_.now() + duration;
  if (!timer_.armed() || due < timer_.due()) timer_.set(due);
}

void QueueNotices::reconsider() {
  const Instant now = loop_.now();
  claims_.forget_ended(now);
  held_for_long_ = claims_.any_held_since(now - moment);
  if (claims_.any_waits() || held_for_long_) {
    needed_until_ = now + lingering;
    listen();
  } else if (listens_ && now >= needed_until_) {
    channels_.unsubscribe(channel_);
    listens_ = false;
  }
  if (!held_for_long_) attentive_.reset();
  if (held_for_long_ && !attentive_) attentive_.emplace(loop_, spi::Expectation::Of::upkeep);
  const bool may_become_long = claims_.any_held() && !held_for_long_;
  if (!claims_.empty() || listens_) reconsider_within(may_become_long ? moment : lingering);
}

// --- what is heard --------------------------------------------------------------------------------------------------

void QueueNotices::listening(const std::string&) { catch_up_soon(); }

/// kind, id, "number lease ", key of the line.
void QueueNotices::heard(const std::string&, std::string_view message) {
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
  const spi::ClaimRef claim = {.name = name, .kind = line.kind, .id = id};
  if (kind == 'c') return events_.check(claim.name, claim.kind, claim.id);
  note(claim, answer, loop_.now());
  tell(claim, std::move(answer));
}

}  // namespace holdfast::redis
