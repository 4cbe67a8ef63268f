#include "backends/redis/layouts/plain_claims.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/plain_lock.hpp"
#include "backends/redis/protocol/failures.hpp"
#include "backends/redis/protocol/script.hpp"
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

// KEYS: the lock's four. ARGV: value; lease in milliseconds; description; 'r' to be refused when it is busy; the value
// that it replaces. {$absent} if refused, else what keep() or wait() says. Whoever replaces a claim that held would
// always be the first to find the lock free: if it can, it waits, so that others have a chance.
constexpr std::string_view acquire_one = R"lua(
local value, lease, replaced = ARGV[1], ARGV[2], ARGV[5]
local yields = false
if replaced ~= '' and replaced ~= value then
  if redis.call('GET', KEYS[1]) == replaced then
    redis.call('DEL', KEYS[1])
    yields = ARGV[4] ~= 'r'
  end
  redis.call('HDEL', KEYS[3], replaced)
end
if not yields and redis.call('SET', KEYS[1], value, 'NX', 'PX', lease) then
  return {$granted, say(1, value, lease, ARGV[3]), tonumber(lease)}
end
if redis.call('GET', KEYS[1]) == value then return keep(1, value, lease) end
local since, expires = now, now + lease * 1000
local before = redis.call('HGET', KEYS[3], value)
if before then
  local joined, ends = struct.unpack($two_times, before)
  if ends > now then since, expires = joined, math.max(expires, ends) else before = nil end
end
if ARGV[4] == 'r' and not before then return {$absent} end
return wait(1, value, since, expires, ARGV[3])
)lua";

// KEYS: lock, holder, waiters. ARGV: value. How many claims there were: 1 or 0.
constexpr std::string_view release_one = R"lua(
local waited = redis.call('HDEL', KEYS[3], ARGV[1])
if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[2])
  return redis.call('DEL', KEYS[1])
else
  return waited
end
)lua";

// KEYS: four for each claim. ARGV: for each claim its value, and a lease in milliseconds. For each claim {$absent}, or
// what keep() or wait() says. To renew a claim that waits is to try again; it is granted what it then has of its lease.
constexpr std::string_view renew_all = R"lua(
local answers = {}
for i = 1, #ARGV / 2 do
  local at, value, lease = 4 * i - 3, ARGV[2 * i - 1], ARGV[2 * i]
  local answer = {$absent}
  if redis.call('GET', KEYS[at]) == value then
    answer = keep(at, value, lease)
  else
    local record = redis.call('HGET', KEYS[at + 2], value)
    local since, expires = 0, 0
    if record then since, expires = struct.unpack($two_times, record) end
    if expires > now then
      expires = math.max(expires, now + lease * 1000)
      local left = math.max(math.floor((expires - now) / 1000), 1)
      if redis.call('SET', KEYS[at], value, 'NX', 'PX', left) then
        answer = {$granted, say(at, value, left, record:sub($description_of_waiter_at)), left}
      else
        answer = wait(at, value, since, expires, record:sub($description_of_waiter_at))
      end
    end
  end
  answers[i] = answer
end
return answers
)lua";

const Script& acquire_script() {
  static const Script script = {{plain_lock::functions, acquire_one}, plain_lock::constants};
  return script;
}
const Script& release_script() {
  static const Script script = {{release_one}};
  return script;
}
const Script& renew_script() {
  static const Script script = {{plain_lock::functions, renew_all}, plain_lock::constants};
  return script;
}

/// The random value that stands in the lock's key: text, because people look at such keys.
std::string value_of(const spi::ClaimId& id) { return hexadecimal(IdBytes(id)); }

std::optional<Failure> why_refused(const ClaimRequest& request, const Keys& keys) {
  if (auto failure = kit::why_invalid(request)) return failure;
  if (request.mode.kind == ClaimMode::shared) {
    return Failure{Errc::unsupported,
                   "the layout plain does not support shared locks, because its key has one holder; use layout=queue"};
  }
  if (request.mode.kind == ClaimMode::permits) {
    return Failure{Errc::unsupported,
                   "the layout plain does not support semaphores, because its key has one holder; use layout=queue"};
  }
  if (request.lock_delay > milliseconds::zero()) {
    return Failure{
        Errc::unsupported,
        "the layout plain does not support lock_delay, because its key is gone when the lease ends; use layout=queue"};
  }
  return keys.why_taken(request.name.text());
}

void add_keys(Command& command, const PlainKeys& keys) {
  command.add(keys.lock).add(keys.holder).add(keys.waiters).add(keys.counter);
}

}  // namespace

PlainClaims::PlainClaims(const spi::BackendContext& context, Topology& topology, const Keys& keys)
    : loop_(context.loop), topology_(topology), keys_(keys), chance_(base::Random::fresh_seed()) {}

void PlainClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  if (auto failure = why_refused(request, keys_)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  const PlainKeys keys = keys_.plain(request.name.text());
  Command command;
  command.add(4);
  add_keys(command, keys);
  command.add(value_of(request.id)).add(request.lease.count()).add(RecordTail::description_of(request));
  command.add(request.when_busy == spi::WhenBusy::refuse ? "r" : "w");
  command.add(request.replaces ? value_of(*request.replaces) : std::string());
  topology_.send({.command = std::move(command),
                  .script = &acquire_script(),
                  .key = keys.lock,
                  .order = Request::Order::kept,
                  .patience = spi::patience(request.lease),
                  .on_reply = [this, sent = loop_.now(), done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    std::optional<ClaimAnswer> answer = answer_from(*result.value(), sent);
                    if (!answer) return done(topology_.not_understood());
                    done(*std::move(answer));
                  }});
}

void PlainClaims::release(const ClaimRef& claim, Done<bool> done) {
  const PlainKeys keys = keys_.plain(claim.name.text());
  Command command;
  command.add(3).add(keys.lock).add(keys.holder).add(keys.waiters).add(value_of(claim.id));
  topology_.send({.command = std::move(command),
                  .script = &release_script(),
                  .key = keys.lock,
                  .order = Request::Order::kept,
                  .patience = spi::patience(claim.lease),
                  .on_reply = [done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    done(result.value()->integer == 1);
                  }});
}

void PlainClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (claims.empty()) return kit::answer_soon(loop_, std::move(done), Result(std::vector<ClaimAnswer>()));
  std::vector<PlainKeys> keys;
  keys.reserve(claims.size());
  base::Duration patience = spi::longest_patience;
  for (const ClaimRef& claim : claims) {
    patience = std::min(patience, spi::patience(claim.lease));
    keys.push_back(keys_.plain(claim.name.text()));
  }
  const auto send = [&](const Renewals::Places& places, Renewals::Done answered) {
    Command command;
    command.add(4 * places.size());
    for (const std::size_t place : places) add_keys(command, keys[place]);
    for (const std::size_t place : places) command.add(value_of(claims[place].id)).add(claims[place].lease.count());
    topology_.send({.command = std::move(command),
                    .script = &renew_script(),
                    .key = keys[places.front()].lock,
                    .patience = patience,
                    .on_reply = [this, count = places.size(), sent = loop_.now(),
                                 answered = std::move(answered)](Result<Reply*> result) mutable {
                      if (!result.ok()) return answered(std::move(result.failure()));
                      answered(renewed(*result.value(), count, sent));
                    }});
  };
  Renewals::send(
      topology_, claims.size(), [&](std::size_t place) { return std::string_view(keys[place].lock); }, send,
      std::move(done));
}

Result<std::vector<ClaimAnswer>> PlainClaims::renewed(const Reply& reply, std::size_t count, Instant sent) {
  if (reply.elements.size() != count) return topology_.not_understood();
  std::vector<ClaimAnswer> answers;
  answers.reserve(count);
  for (const Reply& part : reply.elements) {
    std::optional<ClaimAnswer> answer = answer_from(part, sent);
    if (!answer) return topology_.not_understood();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

void PlainClaims::downgrade(const ClaimRef&, Done<ClaimAnswer> done) {
  kit::answer_soon(loop_, std::move(done),
                   Failure{Errc::unsupported, "the layout plain does not support shared locks; use layout=queue"});
}

// --- answers --------------------------------------------------------------------------------------------------------

std::optional<ClaimAnswer> PlainClaims::answer_from(const Reply& reply, Instant sent) {
  const auto& parts = reply.elements;
  const auto is_number = [](const Reply& part) { return part.is(Reply::Kind::integer); };
  if (parts.empty() || !std::all_of(parts.begin(), parts.end(), is_number)) return std::nullopt;
  ClaimAnswer answer;
  if (parts[0].integer == 0) return answer;
  const bool granted = parts[0].integer == 1;
  if (parts.size() != (granted ? 3U : 5U)) return std::nullopt;
  answer.standing = granted ? ClaimAnswer::Standing::granted : ClaimAnswer::Standing::waiting;
  answer.number = static_cast<std::uint64_t>(parts[1].integer);
  // A key that somebody made last for ever lasts for as long as any lease does.
  answer.lease = parts[2].integer >= 0 ? milliseconds(parts[2].integer) : milliseconds(LockOptions::max_ttl);
  answer.armed_at = sent;
  if (!granted) {
    answer.place = static_cast<std::uint32_t>(parts[3].integer);
    answer.check_after = when_to_ask_again(parts[4].integer);
  }
  return answer;
}

milliseconds PlainClaims::when_to_ask_again(long long lock_expires_in) {
  std::uniform_int_distribution<long long> interval(least_poll_interval.count(), most_poll_interval.count());
  const long long chosen = interval(chance_);
  return milliseconds(lock_expires_in >= 0 ? std::min(chosen, lock_expires_in + 1) : chosen);
}

}  // namespace holdfast::redis
