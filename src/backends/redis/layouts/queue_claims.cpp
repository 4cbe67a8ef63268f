#include "backends/redis/layouts/queue_claims.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/queue_scripts.hpp"
#include "backends/redis/protocol/failures.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::redis {

using base::Instant;
using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Result;

namespace {

/// Longer is as good as for ever, and times stay far below the places in the line.
constexpr milliseconds longest_delay = std::chrono::hours(24 * 365 * 10);

/// What a request about one claim takes, unless its name is very long.
constexpr std::size_t usual_bytes = 512;

void add_keys(Command& command, const LineKeys& keys) {
  command.add(keys.line).add(keys.claims).add(keys.order).add(keys.counter);
}

bool begins_with_integers(const std::vector<Reply>& parts, std::size_t count) {
  return parts.size() >= count && std::all_of(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(count),
                                              [](const Reply& part) { return part.is(Reply::Kind::integer); });
}

/// What describe() of the scripts says, or {0}; nothing if it makes no sense.
std::optional<ClaimAnswer> answer_from(Reply& reply, Instant sent) {
  std::vector<Reply>& parts = reply.elements;
  if (!begins_with_integers(parts, 1)) return std::nullopt;
  ClaimAnswer answer;
  if (parts[0].integer == 0) return answer;
  if (!begins_with_integers(parts, 3)) return std::nullopt;
  answer.number = static_cast<std::uint64_t>(parts[1].integer);
  answer.lease = milliseconds(parts[2].integer);
  answer.armed_at = sent;
  const bool is_long = parts.size() == 5;
  if (parts[0].integer == 1) {
    answer.standing = ClaimAnswer::Standing::granted;
    if (is_long) answer.asked_to_release = {std::move(parts[4].text), milliseconds(parts[3].integer)};
    return answer;
  }
  if (parts[0].integer != 2 || !begins_with_integers(parts, 5)) return std::nullopt;
  answer.standing = ClaimAnswer::Standing::waiting;
  answer.place = static_cast<std::uint32_t>(parts[3].integer);
  answer.check_after = milliseconds(parts[4].integer);
  return answer;
}

}  // namespace

// --- acquire --------------------------------------------------------------------------------------------------------

void QueueClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  if (auto failure = kit::why_invalid(request)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  if (request.replaces)
    withdraw_elsewhere({request.name, request.kind(), *request.replaces, request.lease}, request.mode);
  const bool permits = request.mode.kind == ClaimMode::permits;
  const milliseconds delay = std::min(request.lock_delay, longest_delay);
  const LineKeys keys = keys_.line(request.name.text(), permits);
  Command command(usual_bytes);
  command.add(4);
  add_keys(command, keys);
  command.add(IdBytes(request.id)).add(RecordTail::of(request, client_)).add(request.lease.count());
  command.add(request.when_busy == spi::WhenBusy::refuse ? "r" : "w");
  request.replaces ? command.add(IdBytes(*request.replaces)) : command.add("");
  if (delay > milliseconds::zero()) command.add(delay.count());

  topology_.send(
      {.command = std::move(command),
       .script = &claim_script(),
       .key = keys.line,
       .order = Request::Order::kept,
       .patience = spi::patience(request.lease),
       .on_reply = [this, asked = Asked(request, loop_.now()), done = std::move(done)](Result<Reply*> result) mutable {
         if (!result.ok()) return done(std::move(result.failure()));
         done(acquired(asked, *result.value()));
       }});
}

Result<ClaimAnswer> QueueClaims::acquired(const Asked& asked, Reply& reply) {
  if (asked.replaces) notices_.forget(asked.name, *asked.replaces);
  std::optional<ClaimAnswer> answer;
  if (reply.is(Reply::Kind::integer)) {  // the name was free
    answer = ClaimAnswer{.standing = ClaimAnswer::Standing::granted,
                         .number = static_cast<std::uint64_t>(reply.integer),
                         .lease = asked.lease,
                         .armed_at = asked.sent};
  } else if (begins_with_integers(reply.elements, 2) && reply.elements[0].integer == 3) {
    return kit::different_total({.name = asked.name, .id = asked.id, .mode = asked.mode},
                                static_cast<std::uint32_t>(reply.elements[1].integer));
  } else {
    answer = answer_from(reply, asked.sent);
  }
  if (!answer) return topology_.not_understood();
  notices_.note(asked.name, asked.id, *answer, asked.mode.kind == ClaimMode::permits, asked.sent);
  return *std::move(answer);
}

/// What it replaces may stand in the line of the other kind, of which the script knows nothing. The core never does
/// that, and where it might be, nobody would wait behind it.
void QueueClaims::withdraw_elsewhere(const ClaimRef& replaced, const spi::Mode& mode) {
  const bool permits = mode.kind == ClaimMode::permits;
  if (notices_.claims().permits(replaced.name, replaced.id) == permits) return;
  send_release(replaced, !permits, [](const Result<bool>&) {});
}

// --- release --------------------------------------------------------------------------------------------------------

void QueueClaims::release(const ClaimRef& claim, Done<bool> done) {
  const std::optional<bool> permits = notices_.claims().permits(claim.name, claim.id);
  if (permits) return send_release(claim, *permits, std::move(done));
  // It stands in one of the lines, or in none. A failure of the first may be told later than what the second finds.
  auto was_a_lock = std::make_shared<Result<bool>>(Failure{Errc::in_doubt, "only half of it is known"});
  send_release(claim, false, [was_a_lock](Result<bool> result) { *was_a_lock = std::move(result); });
  send_release(claim, true, [was_a_lock, done = std::move(done)](Result<bool> result) mutable {
    if (!was_a_lock->ok() || was_a_lock->value()) return done(std::move(*was_a_lock));
    done(std::move(result));
  });
}

void QueueClaims::send_release(const ClaimRef& claim, bool permits, Done<bool> done) {
  const LineKeys keys = keys_.line(claim.name.text(), permits);
  Command command(usual_bytes);
  command.add(4);
  add_keys(command, keys);
  command.add(IdBytes(claim.id));
  topology_.send(
      {.command = std::move(command),
       .script = &claim_script(),
       .key = keys.line,
       .order = Request::Order::kept,
       .patience = spi::patience(claim.lease),
       .on_reply = [this, name = &claim.name, id = claim.id, done = std::move(done)](Result<Reply*> result) mutable {
         if (!result.ok()) return done(std::move(result.failure()));
         const bool was_there = result.value()->integer == 1;
         notices_.forget(*name, id);
         done(was_there);
       }});
}

// --- renew ----------------------------------------------------------------------------------------------------------

/// A claim whose kind is not known is looked for in both lines.
struct QueueClaims::Look {
  const LockName& name;
  spi::ClaimId id;
  milliseconds lease;
  bool permits;
  bool is_last;  ///< there is no other line in which it might stand
};

void QueueClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (claims.empty()) return kit::answer_soon(loop_, std::move(done), Result(std::vector<ClaimAnswer>()));
  std::vector<Look> looks;
  looks.reserve(claims.size());
  base::Duration patience = spi::longest_patience;
  for (const ClaimRef& claim : claims) {
    patience = std::min(patience, spi::patience(claim.lease));
    const std::optional<bool> permits = notices_.claims().permits(claim.name, claim.id);
    if (!permits) looks.push_back({claim.name, claim.id, claim.lease, false, false});
    looks.push_back({claim.name, claim.id, claim.lease, permits.value_or(true), true});
  }
  std::vector<LineKeys> keys;
  keys.reserve(looks.size());
  for (const Look& look : looks) keys.push_back(keys_.line(look.name.text(), look.permits));
  const Instant sent = loop_.now();
  const auto send = [&](const Renewals::Places& places, Renewals::Done answered) {
    Command command;
    command.add(4 * places.size());
    for (const std::size_t place : places) add_keys(command, keys[place]);
    for (const std::size_t place : places) command.add(IdBytes(looks[place].id)).add(looks[place].lease.count());
    topology_.send({.command = std::move(command),
                    .script = &renew_script(),
                    .key = keys[places.front()].line,
                    .patience = patience,
                    .on_reply = [this, count = places.size(), sent,
                                 answered = std::move(answered)](Result<Reply*> result) mutable {
                      if (!result.ok()) return answered(std::move(result.failure()));
                      answered(answers_from(*result.value(), count, sent));
                    }});
  };
  Renewals::send(
      topology_, keys.size(), [&](std::size_t place) { return std::string_view(keys[place].line); }, send,
      [this, looks, sent, done = std::move(done)](Result<std::vector<ClaimAnswer>> answers) mutable {
        if (!answers.ok()) return done(std::move(answers.failure()));
        done(renewed(looks, sent, std::move(answers.value())));
      });
}

Result<std::vector<ClaimAnswer>> QueueClaims::answers_from(Reply& reply, std::size_t count, Instant sent) {
  if (reply.elements.size() != count) return topology_.not_understood();
  std::vector<ClaimAnswer> answers;
  answers.reserve(count);
  for (Reply& part : reply.elements) {
    std::optional<ClaimAnswer> answer = answer_from(part, sent);
    if (!answer) return topology_.not_understood();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

std::vector<ClaimAnswer> QueueClaims::renewed(const std::vector<Look>& looks, Instant sent,
                                              std::vector<ClaimAnswer> found) {
  std::vector<ClaimAnswer> answers;
  answers.reserve(looks.size());
  std::optional<ClaimAnswer> in_first;  // of two lines
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const Look& look = looks[i];
    const bool is_there = found[i].standing != ClaimAnswer::Standing::absent;
    if (is_there || (look.is_last && !in_first)) notices_.note(look.name, look.id, found[i], look.permits, sent);
    if (is_there) in_first = std::move(found[i]);
    if (look.is_last) answers.push_back(std::exchange(in_first, std::nullopt).value_or(ClaimAnswer{}));
  }
  return answers;
}

// --- downgrade ------------------------------------------------------------------------------------------------------

void QueueClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  if (notices_.claims().permits(claim.name, claim.id) == false) return send_downgrade(claim, std::move(done));
  // If it stands among the permits, it cannot be downgraded. Whoever asks only hears of that, and so is told the rest.
  const auto kept = std::make_shared<const LockName>(claim.name);  // it may be the more patient of the two
  const ClaimRef only_ask = {*kept, claim.kind, claim.id, milliseconds::zero()};
  auto among_permits = std::make_shared<bool>(false);
  renew({&only_ask, 1}, [this, among_permits, kept, id = claim.id](Result<std::vector<ClaimAnswer>> answers) {
    *among_permits = notices_.claims().permits(*kept, id) == true;
    if (*among_permits && answers.ok()) tell({*kept, LockKind::semaphore, id, true}, std::move(answers.value()[0]));
  });
  send_downgrade(claim,
                 [among_permits, name = &claim.name, done = std::move(done)](Result<ClaimAnswer> answer) mutable {
                   const bool absent = answer.ok() && answer.value().standing == ClaimAnswer::Standing::absent;
                   if (absent && *among_permits) return done(kit::cannot_downgrade_permits(*name));
                   done(std::move(answer));
                 });
}

void QueueClaims::send_downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  const LineKeys keys = keys_.line(claim.name.text(), false);
  Command command;
  command.add(4);
  add_keys(command, keys);
  command.add(IdBytes(claim.id));
  topology_.send({.command = std::move(command),
                  .script = &downgrade_script(),
                  .key = keys.line,
                  .order = Request::Order::kept,
                  .patience = spi::patience(claim.lease),
                  .on_reply = [this, sent = loop_.now(), done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    std::optional<ClaimAnswer> answer = answer_from(*result.value(), sent);
                    if (!answer) return done(topology_.not_understood());
                    done(*std::move(answer));
                  }});
}

// --- after messages may have been lost ------------------------------------------------------------------------------

void QueueClaims::catch_up() {
  constexpr std::size_t at_once = 256;
  auto claims = std::make_shared<std::vector<Named>>();
  notices_.claims().for_each([&](const LockName& name, const spi::ClaimId& id, const KnownClaims::Claim& claim) {
    claims->push_back({name, claim.permits ? LockKind::semaphore : LockKind::lock, id, claim.waiting});
    if (claims->size() == at_once) ask_about(std::exchange(claims, std::make_shared<std::vector<Named>>()));
  });
  ask_about(claims);
}

void QueueClaims::ask_about(const std::shared_ptr<const std::vector<Named>>& claims) {
  std::vector<ClaimRef> refs;
  for (const Named& claim : *claims) refs.push_back({claim.name, claim.kind, claim.id, milliseconds::zero()});
  renew(refs, [this, claims](Result<std::vector<ClaimAnswer>> answers) {
    if (!answers.ok()) return;  // the core's own renewals will do
    for (std::size_t i = 0; i < claims->size(); ++i) tell((*claims)[i], std::move(answers.value()[i]));
  });
}

void QueueClaims::tell(const Named& claim, ClaimAnswer answer) {
  const bool granted = answer.standing == ClaimAnswer::Standing::granted;
  if (granted && claim.waiting) {
    notices_.tell(claim.name, claim.kind, claim.id, std::move(answer));
  } else if (answer.standing == ClaimAnswer::Standing::absent || answer.asked_to_release) {
    events_.check(claim.name, claim.kind, claim.id);
  }
}

}  // namespace holdfast::redis
