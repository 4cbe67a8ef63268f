#include "backends/redis/layouts/queue_claims.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/queue_line.hpp"
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
  if (parts[0].integer == queue_line::absent) return answer;
  if (!begins_with_integers(parts, 3)) return std::nullopt;
  answer.number = static_cast<std::uint64_t>(parts[1].integer);
  answer.lease = milliseconds(parts[2].integer);
  answer.armed_at = sent;
  const bool is_long = parts.size() == 5;
  if (parts[0].integer == queue_line::granted) {
    answer.standing = ClaimAnswer::Standing::granted;
    if (is_long) answer.asked_to_release = {std::move(parts[4].text), milliseconds(parts[3].integer)};
    return answer;
  }
  if (parts[0].integer != queue_line::waiting || !begins_with_integers(parts, 5)) return std::nullopt;
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
  const milliseconds delay = std::min(request.lock_delay, longest_delay);
  const LineKeys keys = keys_.line(request.name.text(), request.kind());
  Command command(usual_bytes);
  command.add(4);
  add_keys(command, keys);
  command.add(IdBytes(request.id)).add(RecordTail::of(request, client_)).add(request.lease.count());
  command.add(request.when_busy == spi::WhenBusy::refuse ? "r" : "w");
  if (request.replaces) {
    command.add(IdBytes(*request.replaces));
  } else {
    command.add("");
  }
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
  const LockKind kind = spi::kind_of(asked.mode);
  if (asked.replaces) notices_.forget({.name = asked.name, .kind = kind, .id = *asked.replaces});
  std::optional<ClaimAnswer> answer;
  if (reply.is(Reply::Kind::integer)) {  // the name was free
    answer = ClaimAnswer{.standing = ClaimAnswer::Standing::granted,
                         .number = static_cast<std::uint64_t>(reply.integer),
                         .lease = asked.lease,
                         .armed_at = asked.sent};
  } else if (begins_with_integers(reply.elements, 2) && reply.elements[0].integer == queue_line::other_total) {
    return kit::different_total({.name = asked.name, .id = asked.id, .mode = asked.mode},
                                static_cast<std::uint32_t>(reply.elements[1].integer));
  } else {
    answer = answer_from(reply, asked.sent);
  }
  if (!answer) return topology_.not_understood();
  notices_.note({.name = asked.name, .kind = kind, .id = asked.id}, *answer, asked.sent);
  return *std::move(answer);
}

// --- release --------------------------------------------------------------------------------------------------------

void QueueClaims::release(const ClaimRef& claim, Done<bool> done) {
  const LineKeys keys = keys_.line(claim.name.text(), claim.kind);
  Command command(usual_bytes);
  command.add(4);
  add_keys(command, keys);
  command.add(IdBytes(claim.id));
  topology_.send({.command = std::move(command),
                  .script = &claim_script(),
                  .key = keys.line,
                  .order = Request::Order::kept,
                  .patience = spi::patience(claim.lease),
                  .on_reply = [this, claim, done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    const bool was_there = result.value()->integer == 1;
                    notices_.forget(claim);
                    done(was_there);
                  }});
}

// --- renew ----------------------------------------------------------------------------------------------------------

void QueueClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (claims.empty()) return kit::answer_soon(loop_, std::move(done), Result(std::vector<ClaimAnswer>()));
  base::Duration patience = spi::longest_patience;
  for (const ClaimRef& claim : claims) patience = std::min(patience, spi::patience(claim.lease));
  renew_within(patience, claims, std::move(done));
}

void QueueClaims::renew_within(base::Duration patience, std::span<const ClaimRef> claims,
                               Done<std::vector<ClaimAnswer>> done) {
  std::vector<LineKeys> keys;
  keys.reserve(claims.size());
  for (const ClaimRef& claim : claims) keys.push_back(keys_.line(claim.name.text(), claim.kind));
  const auto send = [&](const Renewals::Places& places, Renewals::Done answered) {
    std::vector<ClaimRef> asked;
    asked.reserve(places.size());
    Command command;
    command.add(4 * places.size());
    for (const std::size_t place : places) {
      asked.push_back(claims[place]);
      add_keys(command, keys[place]);
    }
    for (const ClaimRef& claim : asked) command.add(IdBytes(claim.id)).add(claim.lease.count());
    topology_.send({.command = std::move(command),
                    .script = &renew_script(),
                    .key = keys[places.front()].line,
                    .patience = patience,
                    .on_reply = [this, asked = std::move(asked), sent = loop_.now(),
                                 answered = std::move(answered)](Result<Reply*> result) mutable {
                      if (!result.ok()) return answered(std::move(result.failure()));
                      answered(renewed(asked, *result.value(), sent));
                    }});
  };
  Renewals::send(
      topology_, keys.size(), [&](std::size_t place) { return std::string_view(keys[place].line); }, send,
      std::move(done));
}

Result<std::vector<ClaimAnswer>> QueueClaims::renewed(const std::vector<ClaimRef>& asked, Reply& reply, Instant sent) {
  if (reply.elements.size() != asked.size()) return topology_.not_understood();
  std::vector<ClaimAnswer> answers;
  answers.reserve(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::optional<ClaimAnswer> answer = answer_from(reply.elements[i], sent);
    if (!answer) return topology_.not_understood();
    notices_.note(asked[i], *answer, sent);
    answers.push_back(*std::move(answer));
  }
  return answers;
}

// --- downgrade ------------------------------------------------------------------------------------------------------

void QueueClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  if (claim.kind == LockKind::semaphore) return refuse_downgrade(claim, std::move(done));
  const LineKeys keys = keys_.line(claim.name.text(), claim.kind);
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

/// Permits cannot be downgraded, but whoever asks about a claim that is not there hears that.
void QueueClaims::refuse_downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  const ClaimRef only_asked = {claim.name, claim.kind, claim.id, milliseconds::zero()};
  renew_within(spi::patience(claim.lease), {&only_asked, 1},
               [this, claim, done = std::move(done)](Result<std::vector<ClaimAnswer>> answers) mutable {
                 if (!answers.ok()) return done(std::move(answers.failure()));
                 ClaimAnswer& answer = answers.value().front();
                 if (answer.standing == ClaimAnswer::Standing::absent) return done(std::move(answer));
                 // The caller does not hear how it stands, and so is told.
                 tell(claim, true, std::move(answer));
                 done(kit::cannot_downgrade_permits(claim.name));
               });
}

// --- after messages may have been lost ------------------------------------------------------------------------------

void QueueClaims::catch_up() {
  constexpr std::size_t at_once = 256;
  auto claims = std::make_shared<std::vector<Known>>();
  notices_.claims().for_each([&](const ClaimRef& ref, const KnownClaims::Claim& claim) {
    claims->push_back({ref.name, ref.kind, ref.id, claim.waiting});
    if (claims->size() == at_once) ask_about(std::exchange(claims, std::make_shared<std::vector<Known>>()));
  });
  ask_about(claims);
}

void QueueClaims::ask_about(const std::shared_ptr<const std::vector<Known>>& claims) {
  std::vector<ClaimRef> refs;
  for (const Known& claim : *claims) refs.push_back(claim.ref());
  renew(refs, [this, claims](Result<std::vector<ClaimAnswer>> answers) {
    if (!answers.ok()) return;  // the core's own renewals will do
    for (std::size_t i = 0; i < claims->size(); ++i) {
      const Known& claim = (*claims)[i];
      tell(claim.ref(), claim.waited, std::move(answers.value()[i]));
    }
  });
}

void QueueClaims::tell(const ClaimRef& claim, bool waited, ClaimAnswer answer) {
  const bool granted = answer.standing == ClaimAnswer::Standing::granted;
  if (granted && waited) {
    notices_.tell(claim, std::move(answer));
  } else if (answer.standing == ClaimAnswer::Standing::absent || answer.asked_to_release) {
    events_.check(claim.name, claim.kind, claim.id);
  }
}

}  // namespace holdfast::redis
