#include "backends/etcd/keep_alives.hpp"

#include <algorithm>
#include <utility>

#include "kit/answer_soon.hpp"

namespace holdfast::etcd {

using base::Instant;
using spi::Failure;

KeepAlives::KeepAlives(spi::Loop& loop, ServerCalls& calls)
    : loop_(loop), calls_(calls), timer_(loop, [this] { give_up(); }) {
  calls_.listen(*this);
}

void KeepAlives::keep_alive(std::int64_t lease, Instant deadline, spi::Done<KeptAlive> done) {
  Wire* const wire = calls_.wire();
  if (wire == nullptr) {
    Failure failure = calls_.closed()
                          ? is_closed()
                          : Failure{Errc::unreachable, "there is no connection to " + calls_.address().shown()};
    return kit::answer_soon(loop_, std::move(done), std::move(failure));
  }
  if (stream_ == 0) {
    stream_ = calls_.next_number();
    wire->open(stream_, Stream::keep_alive);
  }
  requests_.push_back({lease, loop_.now(), deadline, std::move(done)});
  wire->keep_alive(stream_, lease);
  set_timer();
}

void KeepAlives::kept_alive(std::uint64_t stream, const LeaseReply& lease) {
  if (stream != stream_ || requests_.empty()) return;
  if (requests_.front().lease != lease.id) return abandon_stream();  // the server answers something else
  Request request = std::move(requests_.front());
  requests_.pop_front();
  set_timer();
  if (request.done) request.done(KeptAlive{lease.seconds, request.sent});
}

void KeepAlives::stream_ended(std::uint64_t stream) {
  if (stream == stream_) abandon_stream();
}

/// The next request opens another stream.
void KeepAlives::abandon_stream() {
  if (stream_ == 0) return;
  if (Wire* const wire = calls_.wire()) wire->close(stream_);
  stream_ = 0;
  timer_.cancel();
  auto requests = std::exchange(requests_, {});
  for (Request& request : requests) {
    if (!request.done) continue;
    request.done(Failure{Errc::unreachable, "the connection to " + calls_.address().shown() + " was lost"});
  }
}

void KeepAlives::give_up() {
  const Instant now = loop_.now();
  std::deque<spi::Done<KeptAlive>> too_late;
  for (Request& request : requests_) {
    if (request.done && request.deadline <= now) too_late.push_back(std::exchange(request.done, {}));
  }
  // The stream may be stuck for good, so later requests get another one.
  if (!too_late.empty()) {
    abandon_stream();
    calls_.move_on();
  }
  set_timer();
  for (auto& done : too_late) {
    done(Failure{Errc::unreachable, calls_.address().shown() + " did not answer in time"});
  }
}

void KeepAlives::set_timer() {
  Instant next = Instant::max();
  for (const Request& request : requests_) {
    if (request.done) next = std::min(next, request.deadline);
  }
  timer_.set(next);
}

void KeepAlives::close() {
  timer_.cancel();
  stream_ = 0;
  auto requests = std::exchange(requests_, {});
  for (Request& request : requests) {
    if (request.done) request.done(is_closed());
  }
}

}  // namespace holdfast::etcd
