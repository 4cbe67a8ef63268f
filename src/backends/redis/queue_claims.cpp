#include "backends/redis/queue_claims.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "backends/redis/queue_line.hpp"
#include "backends/redis/record.hpp"
#include "backends/redis/script.hpp"
#include "spi/rules.hpp"

// Every script begins with the way that nearly all requests take, and only then, where that was not possible, defines
// the functions for the others: each redis.call counts, and so does each closure.

namespace holdfast::redis {

using spi::ClaimAnswer;
using spi::ClaimRef;
using spi::ClaimRequest;
using spi::Done;
using spi::Failure;
using spi::Instant;
using spi::milliseconds;
using spi::Result;

namespace {

// KEYS: the line's four. ARGV: id; the tail of the record; lease; lock delay; both together; 'r' to be refused when it
// is busy; the id that it replaces. Milliseconds.
// Answers the number alone if the name was free; {0} if refused; {3, total} if there are other permits than it wants;
// else what describe() says.
constexpr std::string_view acquire_free = R"lua(
local time = redis.call('TIME')
local began = time[1] * 1000000 + time[2]
local expires = began + ARGV[3] * 1000
local opens = expires + ARGV[4] * 1000
local id = ARGV[1]
local record = struct.pack('<dddd', began, began, expires, opens) .. ARGV[2]
if redis.call('SET', KEYS[1], 'S' .. id .. record, 'NX', 'PX', ARGV[5]) then
  if redis.call('ZADD', KEYS[4], 'GT', 'CH', began, 'n') == 1 then return began end
  local number = tonumber(redis.call('ZINCRBY', KEYS[4], 1, 'n'))
  redis.call('SET', KEYS[1], 'S' .. id .. struct.pack('<d', number) .. record:sub(9), 'KEEPTTL')
  return number
end

local state = redis.call('GET', KEYS[1])
local _, units, total = struct.unpack('<BI4I4', ARGV[2])
if ARGV[6] == 'r' and state:byte() == 83 then
  local holder = state:sub(2, 17)
  local until_then, _, taken, of = struct.unpack('<dBI4I4', state, 42)
  if holder ~= id and holder ~= ARGV[7] and until_then > began and total == of and units > of - taken then
    return {0}
  end
end
)lua";

constexpr std::string_view acquire_else = R"lua(
now = began
enter(1, state)
if ARGV[7] ~= '' and ARGV[7] ~= id then
  local replaced = find(ARGV[7])
  if replaced then
    remove(ARGV[7], replaced)
    promote()
  end
end
local found, wish = find(id)
if found then
  found = arm(id, found, ARGV[3])
  local answer = describe(id, found, wish)
  leave()
  return answer
end
promote()
if used == 0 then limit = total end
if limit ~= total then
  leave()
  return {3, limit}
end
local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')[2]
local waits = last and tonumber(last) >= queue
local fits = not waits and used <= limit and units <= limit - used
if ARGV[6] == 'r' and not fits then
  leave()
  return {0}
end
local number, score = 0, opens
if fits then
  number = mint()
  used = used + units
else
  score = waits and last + 1 or queue
end
record = rearmed(record, number, now, expires, opens)
redis.call('HSET', claims, id, record)
redis.call('ZADD', order, score, id)
keep_until(opens)
local answer = describe(id, record)
leave()
return answer
)lua";

// KEYS: the line's four. ARGV: id. 1 if it was there.
constexpr std::string_view release_sole = R"lua(
local state = redis.call('GET', KEYS[1])
if not state then return 0 end
if state:byte() == 83 then
  if state:sub(2, 17) ~= ARGV[1] then return 0 end
  local expires, opens = struct.unpack('<dd', state, 34)
  if opens > expires then
    local time = redis.call('TIME')
    if time[1] * 1000000 + time[2] >= expires then return 0 end
  end
  return redis.call('DEL', KEYS[1])
end
)lua";

constexpr std::string_view release_else = R"lua(
read_clock()
enter(1, state)
local record = find(ARGV[1])
if record then remove(ARGV[1], record) end
promote()
leave()
return record and 1 or 0
)lua";

// KEYS: four for each claim. ARGV: for each claim its id, and a lease in milliseconds. For each claim {0} or what
// describe() says.
constexpr std::string_view renew_all = R"lua(
read_clock()
local answers = {}
for i = 1, #ARGV / 2 do
  local key, id, lease = KEYS[4 * i - 3], ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local state = redis.call('GET', key)
  local answer = {0}
  if state and state:byte() == 83 then
    local number, since, expires, opens = struct.unpack('<dddd', state, 18)
    if state:sub(2, 17) == id and expires > now then
      local ends = now + lease * 1000
      if ends > expires then
        opens = opens - expires + ends
        expires = ends
        state = state:sub(1, 17) .. struct.pack('<dddd', number, since, expires, opens) .. state:sub(50)
        redis.call('SET', key, state, 'PXAT', string.format('%.0f', math.ceil(opens / 1000)))
      end
      answer = {1, number, math.floor((expires - now) / 1000)}
    end
  elseif state then
    enter(4 * i - 3, state)
    local record, wish = find(id)
    if record then record = arm(id, record, lease) end
    promote()
    -- It may have been its turn just now.
    if record then answer = describe(id, redis.call('HGET', claims, id), wish) end
    leave()
  end
  answers[i] = answer
end
return answers
)lua";

// KEYS: the line's four. ARGV: id. {0} or what describe() says.
constexpr std::string_view downgrade_one = R"lua(
local state = redis.call('GET', KEYS[1])
if not state then return {0} end
read_clock()
enter(1, state)
local id = ARGV[1]
local record, wish = find(id)
local answer = {0}
if record then
  local number, _, _, _, mode, units = struct.unpack('<ddddBI4', record)
  if number > 0 and mode == 1 then
    used = used - units + 1
    record = record:sub(1, 32) .. struct.pack('<BI4', 2, 1) .. record:sub(38)
    redis.call('HSET', claims, id, record)
  end
end
promote()
if record then answer = describe(id, redis.call('HGET', claims, id), wish) end
leave()
return answer
)lua";

const Script& acquire_script() {
  static const Script script = {acquire_free, queue_line::functions, acquire_else};
  return script;
}
const Script& release_script() {
  static const Script script = {release_sole, queue_line::functions, release_else};
  return script;
}
const Script& renew_script() {
  static const Script script = {queue_line::functions, renew_all};
  return script;
}
const Script& downgrade_script() {
  static const Script script = {queue_line::functions, downgrade_one};
  return script;
}

/// Longer is as good as for ever, and times stay far below the places in the line.
constexpr milliseconds longest_delay = std::chrono::hours(24 * 365 * 10);

std::size_t order_of(const LockName& name) { return std::hash<std::string>()(name.text()) | 1U; }

void add_keys(Command& command, const LineKeys& keys) {
  command.add(keys.line).add(keys.claims).add(keys.order).add(keys.counter);
}

Failure not_understood(const Address& address) {
  return {Errc::store_failed, address.shown() + " gave an answer that makes no sense; do all clients have the same " +
                                  "version, and does nothing else write to its keys?"};
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

template <class T>
void answer_soon(spi::Loop& loop, Done<T> done, Result<T> result) {
  loop.defer([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

}  // namespace

// --- acquire --------------------------------------------------------------------------------------------------------

void QueueClaims::acquire(const ClaimRequest& request, Done<ClaimAnswer> done) {
  if (auto failure = spi::why_invalid(request)) {
    return answer_soon(loop_, std::move(done), Result<ClaimAnswer>(*std::move(failure)));
  }
  if (request.replaces) withdraw_elsewhere({request.name, *request.replaces, request.lease}, request.mode);
  const bool permits = request.mode.kind == ClaimMode::permits;
  const milliseconds delay = std::min(request.lock_delay, longest_delay);
  Command command;
  command.add(4);
  add_keys(command, keys_.line(request.name.text(), permits));
  command.add(bytes_of(request.id)).add(RecordTail::of(request, client_)).add(request.lease.count());
  command.add(delay.count()).add((request.lease + delay).count());
  command.add(request.when_busy == spi::WhenBusy::refuse ? "r" : "w");
  command.add(request.replaces ? bytes_of(*request.replaces) : std::string());

  requests_.send({.command = std::move(command),
                  .script = &acquire_script(),
                  .about = order_of(request.name),
                  .patience = spi::patience(request.lease),
                  .on_reply = [this, asked = std::make_unique<Asked>(request, loop_.now()),
                               done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    done(acquired(*asked, *result.value()));
                  }});
}

Result<ClaimAnswer> QueueClaims::acquired(const Asked& asked, Reply& reply) {
  if (asked.replaces) inbox_.forget(asked.name, *asked.replaces);
  std::optional<ClaimAnswer> answer;
  if (reply.is(Reply::Kind::integer)) {  // the name was free
    answer = ClaimAnswer{.standing = ClaimAnswer::Standing::granted,
                         .number = static_cast<std::uint64_t>(reply.integer),
                         .lease = asked.lease,
                         .armed_at = asked.sent};
  } else if (begins_with_integers(reply.elements, 2) && reply.elements[0].integer == 3) {
    return spi::different_total({.name = asked.name, .id = asked.id, .mode = asked.mode},
                                static_cast<std::uint32_t>(reply.elements[1].integer));
  } else {
    answer = answer_from(reply, asked.sent);
  }
  if (!answer) return not_understood(requests_.address());
  inbox_.note(asked.name, asked.id, *answer, asked.mode.kind == ClaimMode::permits, asked.sent);
  return *std::move(answer);
}

/// What it replaces may stand in the line of the other kind, of which the script knows nothing. The core never does
/// that, and where it might be, nobody would wait behind it.
void QueueClaims::withdraw_elsewhere(const ClaimRef& replaced, const spi::Mode& mode) {
  const bool permits = mode.kind == ClaimMode::permits;
  if (inbox_.claims().permits(replaced.name, replaced.id) == permits) return;
  send_release(replaced, !permits, [](const Result<bool>&) {});
}

// --- release --------------------------------------------------------------------------------------------------------

void QueueClaims::release(const ClaimRef& claim, Done<bool> done) {
  const std::optional<bool> permits = inbox_.claims().permits(claim.name, claim.id);
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
  Command command;
  command.add(4);
  add_keys(command, keys_.line(claim.name.text(), permits));
  command.add(bytes_of(claim.id));
  requests_.send(
      {.command = std::move(command),
       .script = &release_script(),
       .about = order_of(claim.name),
       .patience = spi::patience(claim.lease),
       .on_reply = [this, name = &claim.name, id = claim.id, done = std::move(done)](Result<Reply*> result) mutable {
         if (!result.ok()) return done(std::move(result.failure()));
         const bool was_there = result.value()->integer == 1;
         inbox_.forget(*name, id);
         done(was_there);
       }});
}

// --- renew ----------------------------------------------------------------------------------------------------------

/// A claim whose kind is not known is looked for in both lines.
struct QueueClaims::Renewal {
  struct Look {
    const LockName& name;
    spi::ClaimId id;
    milliseconds lease;
    bool permits;
    bool is_last;  ///< there is no other line in which it might stand
  };
  std::vector<Look> looks;
  Instant sent;
};

void QueueClaims::renew(std::span<const ClaimRef> claims, Done<std::vector<ClaimAnswer>> done) {
  if (claims.empty()) return answer_soon(loop_, std::move(done), Result(std::vector<ClaimAnswer>()));
  auto renewal = std::make_unique<Renewal>(Renewal{.looks = {}, .sent = loop_.now()});
  renewal->looks.reserve(claims.size());
  spi::Duration patience = spi::longest_patience;
  for (const ClaimRef& claim : claims) {
    patience = std::min(patience, spi::patience(claim.lease));
    const std::optional<bool> permits = inbox_.claims().permits(claim.name, claim.id);
    if (!permits) renewal->looks.push_back({claim.name, claim.id, claim.lease, false, false});
    renewal->looks.push_back({claim.name, claim.id, claim.lease, permits.value_or(true), true});
  }
  Command command;
  command.add(4 * renewal->looks.size());
  for (const Renewal::Look& look : renewal->looks) add_keys(command, keys_.line(look.name.text(), look.permits));
  for (const Renewal::Look& look : renewal->looks) command.add(bytes_of(look.id)).add(look.lease.count());
  requests_.send(
      {.command = std::move(command),
       .script = &renew_script(),
       .patience = patience,
       .on_reply = [this, renewal = std::move(renewal), done = std::move(done)](Result<Reply*> result) mutable {
         if (!result.ok()) return done(std::move(result.failure()));
         done(renewed(*renewal, *result.value()));
       }});
}

Result<std::vector<ClaimAnswer>> QueueClaims::renewed(const Renewal& renewal, Reply& reply) {
  if (reply.elements.size() != renewal.looks.size()) return not_understood(requests_.address());
  std::vector<ClaimAnswer> answers;
  answers.reserve(renewal.looks.size());
  std::optional<ClaimAnswer> found;  // in the first line of two
  for (std::size_t i = 0; i < renewal.looks.size(); ++i) {
    const Renewal::Look& look = renewal.looks[i];
    std::optional<ClaimAnswer> answer = answer_from(reply.elements[i], renewal.sent);
    if (!answer) return not_understood(requests_.address());
    const bool is_there = answer->standing != ClaimAnswer::Standing::absent;
    if (is_there || (look.is_last && !found)) inbox_.note(look.name, look.id, *answer, look.permits, renewal.sent);
    if (is_there) found = std::move(answer);
    if (look.is_last) answers.push_back(std::exchange(found, std::nullopt).value_or(ClaimAnswer{}));
  }
  return answers;
}

// --- downgrade ------------------------------------------------------------------------------------------------------

void QueueClaims::downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  if (inbox_.claims().permits(claim.name, claim.id) == false) return send_downgrade(claim, std::move(done));
  // If it stands among the permits, it cannot be downgraded. Whoever asks only hears of that, and so is told the rest.
  const auto kept = std::make_shared<const LockName>(claim.name);  // it may be the more patient of the two
  const ClaimRef only_ask = {*kept, claim.id, milliseconds::zero()};
  auto among_permits = std::make_shared<bool>(false);
  renew({&only_ask, 1}, [this, among_permits, kept, id = claim.id](Result<std::vector<ClaimAnswer>> answers) {
    *among_permits = inbox_.claims().permits(*kept, id) == true;
    if (*among_permits && answers.ok()) tell({*kept, id, true}, std::move(answers.value()[0]));
  });
  send_downgrade(claim,
                 [among_permits, name = &claim.name, done = std::move(done)](Result<ClaimAnswer> answer) mutable {
                   const bool absent = answer.ok() && answer.value().standing == ClaimAnswer::Standing::absent;
                   if (absent && *among_permits) return done(spi::cannot_downgrade_permits(*name));
                   done(std::move(answer));
                 });
}

void QueueClaims::send_downgrade(const ClaimRef& claim, Done<ClaimAnswer> done) {
  Command command;
  command.add(4);
  add_keys(command, keys_.line(claim.name.text(), false));
  command.add(bytes_of(claim.id));
  requests_.send({.command = std::move(command),
                  .script = &downgrade_script(),
                  .about = order_of(claim.name),
                  .patience = spi::patience(claim.lease),
                  .on_reply = [this, sent = loop_.now(), done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    std::optional<ClaimAnswer> answer = answer_from(*result.value(), sent);
                    if (!answer) return done(not_understood(requests_.address()));
                    done(*std::move(answer));
                  }});
}

// --- after messages may have been lost ------------------------------------------------------------------------------

void QueueClaims::catch_up() {
  constexpr std::size_t at_once = 256;
  auto claims = std::make_shared<std::vector<Named>>();
  inbox_.claims().for_each([&](const LockName& name, const spi::ClaimId& id, const KnownClaims::Claim& claim) {
    claims->push_back({name, id, claim.waiting});
    if (claims->size() == at_once) ask_about(std::exchange(claims, std::make_shared<std::vector<Named>>()));
  });
  ask_about(claims);
}

void QueueClaims::ask_about(const std::shared_ptr<const std::vector<Named>>& claims) {
  std::vector<ClaimRef> refs;
  for (const Named& claim : *claims) refs.push_back({claim.name, claim.id, milliseconds::zero()});
  renew(refs, [this, claims](Result<std::vector<ClaimAnswer>> answers) {
    if (!answers.ok()) return;  // the core's own renewals will do
    for (std::size_t i = 0; i < claims->size(); ++i) tell((*claims)[i], std::move(answers.value()[i]));
  });
}

void QueueClaims::tell(const Named& claim, ClaimAnswer answer) {
  const bool granted = answer.standing == ClaimAnswer::Standing::granted;
  if (granted && claim.waiting) {
    inbox_.tell(claim.name, claim.id, std::move(answer));
  } else if (answer.standing == ClaimAnswer::Standing::absent || answer.asked_to_release) {
    events_.check(claim.name, claim.id);
  }
}

}  // namespace holdfast::redis
