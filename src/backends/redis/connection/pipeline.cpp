#include "backends/redis/connection/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "backends/redis/protocol/failures.hpp"

namespace holdfast::redis {

using base::Instant;
using spi::Failure;
using namespace std::chrono_literals;

namespace {

/// A server that is silent for so long while it owes an answer is not worth waiting for: its host may have gone.
constexpr base::Duration longest_silence = 3s;

constexpr base::Duration long_idle = 1s;

/// Equal for equal keys, may collide, never 0.
std::size_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key) | 1U; }

}  // namespace

Pipeline::Pipeline(spi::Loop& loop, const ServerAddress& address, TlsSetup& tls_setup)
    : loop_(loop),
      address_(address),
      connection_(loop, address, tls_setup, *this),
      timer_(loop, [this] { time_out(); }) {}

void Pipeline::send(Request request) {
  if (closed_) {
    return loop_.defer([on_reply = std::move(request.on_reply), failure = closed()]() mutable { on_reply(failure); });
  }
  Pending pending{.command = std::move(request.command),
                  .script = request.script,
                  .about = request.order == Request::Order::kept ? hash_of(request.key) : 0,
                  .deadline = base::saturating_add(loop_.now(), request.patience),
                  .on_reply = std::move(request.on_reply)};
  set_timer(pending.deadline);
  drop_if_closed();
  if (connection_.is_up()) return write(std::move(pending));
  queue_.push_back(std::move(pending));
  connection_.want();
}

/// Nobody reads while nobody waits for anything, so the server may have gone unnoticed. Better to notice it before
/// something is sent and then in doubt.
void Pipeline::drop_if_closed() {
  const bool idle = connection_.is_up() && flight_.empty() && loop_.now() - last_heard_ > long_idle;
  if (idle && !connection_.is_open()) {
    connection_.drop({Errc::unreachable, "the connection to " + address_.shown() + " was closed"});
  }
}

void Pipeline::write(Pending pending) {
  if (pending.script == nullptr) {
    pending.command.write_to(connection_.out());
  } else {
    const bool is_new = known_.insert(pending.script).second;
    pending.command.write_to(connection_.out(), *pending.script, is_new ? Command::As::text : Command::As::digest);
  }
  pending.sent = loop_.now();
  flight_.push_back(std::move(pending));
}

// --- the connection -------------------------------------------------------------------------------------------------

void Pipeline::connection_up() {
  known_.clear();
  heard_ = false;
  checking_ = false;
  last_heard_ = loop_.now();
  last_failure_.reset();
  if (first_up_) std::exchange(first_up_, {})();
  for (Pending& pending : std::exchange(queue_, {})) {
    if (pending.on_reply) write(std::move(pending));
  }
  if (std::exchange(was_replica_, false) && server_changed_) server_changed_();
}

void Pipeline::connection_down(const Failure& why, bool was_up) {
  if (!was_up) last_failure_ = why;
  // Whoever never said anything sensible and is not a server for us has not executed anything either.
  const bool refused = !heard_ && !spi::is_retryable(why.code);
  const Failure fate =
      refused ? why : Failure{Errc::in_doubt, why.detail + "; perhaps the request was executed before"};
  for (Pending& pending : std::exchange(flight_, {})) answer(pending.on_reply, fate);
  if (!was_up) {
    for (Pending& pending : std::exchange(queue_, {})) answer(pending.on_reply, why);
  }
  if (!queue_.empty() && !closed_) connection_.want();
}

void Pipeline::connection_received(Reply& reply) {
  last_heard_ = loop_.now();
  heard_ = true;
  if (flight_.empty()) {  // it says goodbye
    return connection_.drop(reply.is(Reply::Kind::error) ? explain(reply.text, address_.shown()) : not_redis(address_));
  }
  Pending pending = std::move(flight_.front());
  flight_.pop_front();
  if (reply.is(Reply::Kind::error)) return refused(std::move(pending), reply);
  answer(pending.on_reply, &reply);
}

void Pipeline::refused(Pending pending, const Reply& reply) {
  if (pending.script != nullptr && is_forgotten_script(reply.text)) {
    known_.clear();
    if (!pending.on_reply) return;
    if (pending.repeated || overtaken(pending)) {
      return answer(pending.on_reply,
                    Failure{Errc::unreachable, address_.shown() + " repeatedly lost its cached scripts"});
    }
    pending.repeated = true;
    return write(std::move(pending));
  }
  const Failure failure = explain(reply.text, address_.shown());
  answer(pending.on_reply, failure);
  // It may not be the primary any more; whoever took over is found by connecting again.
  if (reply.text.starts_with("READONLY")) {
    was_replica_ = true;
    connection_.drop(failure);
  }
}

bool Pipeline::overtaken(const Pending& pending) const {
  if (pending.about == 0) return false;
  return std::any_of(flight_.begin(), flight_.end(),
                     [&](const Pending& later) { return later.about == pending.about; });
}

// --- patience -------------------------------------------------------------------------------------------------------

/// Hardly ever armed anew: it is left as it is while requests come and go, and looks what is due when it fires.
void Pipeline::set_timer(Instant due) {
  if (!timer_.armed() || due < timer_.due()) timer_.set(due);
}

void Pipeline::time_out() {
  const Instant now = loop_.now();
  Instant next = Instant::max();
  const auto due = [&](Pending& pending) {
    if (pending.on_reply && pending.deadline > now) next = std::min(next, pending.deadline);
    return pending.on_reply && pending.deadline <= now;
  };
  bool given_up = false;
  for (Pending& pending : flight_) {
    if (due(pending)) {
      answer(pending.on_reply, Failure{Errc::in_doubt, address_.shown() + " did not answer in time"});
      given_up = true;
    }
  }
  std::erase_if(queue_, [&](Pending& pending) {
    if (!due(pending)) return false;
    answer(pending.on_reply, last_failure_.value_or(Failure{Errc::unreachable, connection_.hindrance()}));
    return true;
  });
  if (!flight_.empty()) {
    const Instant end = std::max(last_heard_, flight_.front().sent) + longest_silence;
    if (end <= now) {
      connection_.drop({Errc::unreachable, address_.shown() + " does not answer"});
    } else {
      next = std::min(next, end);
      if (given_up) check_order();
    }
  }
  if (next != Instant::max()) set_timer(next);
}

/// If one reply went missing, each request would get the reply to the next one, for ever, and the server would never
/// seem silent. So when a request was given up or its reply made no sense, we ask for a reply that we know beforehand.
void Pipeline::check_order() {
  if (std::exchange(checking_, true)) return;
  std::string mark = "holdfast-" + std::to_string(++checks_);
  Pending pending{.command = Command().add("PING").add(mark), .deadline = Instant::max()};
  pending.on_reply = [this, mark = std::move(mark)](const spi::Result<Reply*>& reply) {
    if (!reply.ok()) return;
    checking_ = false;
    if (reply.value()->text != mark) {
      connection_.drop({Errc::unreachable, "the answers of " + address_.shown() + " were out of order"});
    }
  };
  write(std::move(pending));
}

/// Failures are deferred, because the caller may be iterating over our queues; replies are delivered inline.
void Pipeline::answer(Request::OnReply& on_reply, spi::Result<Reply*> result) {
  if (!on_reply) return;
  Request::OnReply told = std::exchange(on_reply, {});
  if (result.ok()) return told(std::move(result));
  loop_.defer([told = std::move(told), failure = std::move(result.failure())]() mutable { told(std::move(failure)); });
}

Failure Pipeline::not_understood() {
  check_order();
  return redis::not_understood(address_.shown());
}

// --- the end --------------------------------------------------------------------------------------------------------

void Pipeline::close() {
  if (std::exchange(closed_, true)) return;
  for (Pending& pending : std::exchange(flight_, {})) answer(pending.on_reply, closed());
  for (Pending& pending : std::exchange(queue_, {})) answer(pending.on_reply, closed());
  timer_.cancel();
  connection_.close();
}

Failure Pipeline::closed() const {
  return {Errc::closed, "the client's connection to " + address_.shown() + " is closed"};
}

}  // namespace holdfast::redis
