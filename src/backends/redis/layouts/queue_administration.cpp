#include "backends/redis/layouts/queue_administration.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/queue_line.hpp"
#include "backends/redis/layouts/server_time.hpp"
#include "backends/redis/protocol/failures.hpp"
#include "backends/redis/protocol/script.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"

namespace holdfast::redis {

using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Result;
using std::chrono::system_clock;

namespace {

// KEYS: line, claims and order of each line. For each line {units there are, claim...}, of the living; a claim is its
// number, since, milliseconds left, mode, units and description. Changes nothing.
constexpr std::string_view show_lines = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function add(answer, record)
  if not record then return end
  local number, since, expires, _, mode, units = struct.unpack($to_units, record)
  if expires <= now then return end
  local left = math.floor((expires - now) / 1000)
  answer[#answer + 1] = struct.pack('<dddBI4', number, since, left, mode, units) .. record:sub($description_at)
end
local answers = {}
for i = 1, #KEYS, 3 do
  local answer = {0}
  local state = redis.call('GET', KEYS[i])
  if state and state:byte() == $simple then
    answer = {(struct.unpack('<I4', state, $simple_total_at))}
    add(answer, state:sub($simple_record_at))
  elseif state then
    local _, limit = struct.unpack($state, state, 2)
    answer = {limit}
    local ids = redis.call('ZRANGE', KEYS[i + 2], 0, -1)
    for j = 1, #ids do add(answer, redis.call('HGET', KEYS[i + 1], ids[j])) end
  end
  answers[#answers + 1] = answer
end
return answers
)lua";

// KEYS: the line's four. ARGV: the largest number to be evicted. How many were.
constexpr std::string_view evict_holders = R"lua(
local state = redis.call('GET', KEYS[1])
if not state then return 0 end
read_clock()
enter(1, state)
local evicted = 0
local holders = redis.call('ZRANGEBYSCORE', order, '-inf', '($queue')
for i = 1, #holders do
  local record = redis.call('HGET', claims, holders[i])
  local number, _, expires, _, _, _, _, client = struct.unpack($to_client, record)
  if number <= tonumber(ARGV[1]) then
    if expires > now then
      tell('c', client, holders[i], 0, 0)
      evicted = evicted + 1
    end
    remove(holders[i], record)
  end
end
promote()
leave()
return evicted
)lua";

// KEYS: the line's four. ARGV: how many milliseconds they have, and why. How many were asked.
constexpr std::string_view ask_holders = R"lua(
local state = redis.call('GET', KEYS[1])
if not state then return 0 end
read_clock()
enter(1, state)
local asked = 0
local holders = redis.call('ZRANGEBYSCORE', order, '-inf', '($queue')
for i = 1, #holders do
  local _, _, expires, _, _, _, _, client = struct.unpack($to_client, redis.call('HGET', claims, holders[i]))
  if expires > now then
    redis.call('HSET', claims, 'a' .. holders[i], struct.pack('<d', now + ARGV[1] * 1000) .. ARGV[2])
    tell('c', client, holders[i], 0, 0)
    asked = asked + 1
  end
end
leave()
return asked
)lua";

// KEYS: the line's four. ARGV: how many permits there are from now on. 1 if anybody holds or waits.
constexpr std::string_view resize_line = R"lua(
local state = redis.call('GET', KEYS[1])
if not state then return 0 end
read_clock()
enter(1, state)
if used == 0 then
  leave()
  return 0
end
limit = tonumber(ARGV[1])
local waiters = redis.call('ZRANGEBYSCORE', order, $queue, '+inf')
for i = 1, #waiters do
  local record = redis.call('HGET', claims, waiters[i])
  local _, _, _, _, _, units, _, client = struct.unpack($to_client, record)
  if units > limit then
    remove(waiters[i], record)
    tell('c', client, waiters[i], 0, 0)
  end
end
promote()
leave()
return 1
)lua";

const Script& show_script() {
  static const Script script = {{show_lines}, queue_line::constants};
  return script;
}
const Script& evict_script() {
  static const Script script = {{queue_line::functions, evict_holders}, queue_line::constants};
  return script;
}
const Script& ask_script() {
  static const Script script = {{queue_line::functions, ask_holders}, queue_line::constants};
  return script;
}
const Script& resize_script() {
  static const Script script = {{queue_line::functions, resize_line}, queue_line::constants};
  return script;
}

/// So many keys are looked at in one step: others wait for it.
constexpr int keys_at_once = 1000;
constexpr std::size_t lines_at_once = 100;

/// Longer is as good as for ever, and stays far below what a number can be.
constexpr milliseconds longest_request = std::chrono::hours(24 * 365 * 10);

std::optional<ClaimStatus> status_from(const Reply& reply) {
  const auto shown = ShownClaim::from(reply.text);
  if (!shown) return std::nullopt;
  ClaimStatus status;
  status.number = shown->number;
  status.since = time_of_day(std::chrono::microseconds(shown->since));
  status.lease_left = milliseconds(shown->milliseconds_left);
  status.mode = shown->mode;
  status.permits = shown->mode == ClaimMode::permits ? shown->units : 1;
  RecordTail::describe(shown->description, status);
  return status;
}

/// Nothing if nobody is there.
std::optional<LockStatus> lock_from(const Reply& reply, const Keys::Parsed& key) {
  if (!reply.is(Reply::Kind::array) || reply.elements.size() < 2) return std::nullopt;
  LockStatus lock;
  lock.name = key.name;
  lock.kind = key.kind;
  if (key.kind == LockKind::semaphore) lock.total = static_cast<std::uint32_t>(reply.elements[0].integer);
  for (std::size_t i = 1; i < reply.elements.size(); ++i) {
    auto claim = status_from(reply.elements[i]);
    if (!claim) continue;
    lock.number = std::max(lock.number, claim->number);
    (claim->number > 0 ? lock.holders : lock.waiters).push_back(*std::move(claim));
  }
  std::ranges::sort(lock.holders, {}, &ClaimStatus::number);
  return lock;
}

}  // namespace

// --- looking --------------------------------------------------------------------------------------------------------

void QueueAdministration::ask_about(const std::vector<Keys::Parsed>& lines, base::Duration patience, Looks::Done done) {
  std::vector<LineKeys> keys;
  keys.reserve(lines.size());
  for (const Keys::Parsed& line : lines) keys.push_back(keys_.line(line.name, line.kind));
  const auto send = [&](const Looks::Places& places, Looks::Done answered) {
    std::vector<Keys::Parsed> asked;
    Command command;
    command.add(3 * places.size());
    for (const std::size_t place : places) {
      command.add(keys[place].line).add(keys[place].claims).add(keys[place].order);
      asked.push_back(lines[place]);
    }
    topology_.send(
        {.command = std::move(command),
         .script = &show_script(),
         .key = keys[places.front()].line,
         .patience = patience,
         .on_reply = [this, asked = std::move(asked), answered = std::move(answered)](Result<Reply*> result) mutable {
           if (!result.ok()) return answered(std::move(result.failure()));
           const auto& replies = result.value()->elements;
           if (replies.size() != asked.size()) return answered(topology_.not_understood());
           std::vector<std::optional<LockStatus>> locks;
           locks.reserve(asked.size());
           for (std::size_t i = 0; i < asked.size(); ++i) locks.push_back(lock_from(replies[i], asked[i]));
           answered(std::move(locks));
         }});
  };
  Looks::send(
      topology_, lines.size(), [&](std::size_t place) { return std::string_view(keys[place].line); }, send,
      std::move(done));
}

void QueueAdministration::show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) {
  ask_about({{name.text(), kind}}, spi::longest_patience,
            [done = std::move(done)](Result<std::vector<std::optional<LockStatus>>> locks) mutable {
              if (!locks.ok()) return done(std::move(locks.failure()));
              done(std::move(locks.value().front()));
            });
}

struct QueueAdministration::Listing {
  std::string pattern;
  base::Instant deadline;
  Done<std::vector<LockStatus>> done;
  std::set<std::string> keys = {};  ///< a scan may find a key twice
  std::vector<LockStatus> locks = {};
  std::size_t unanswered = 0;  ///< scans, then looks
  std::optional<Failure> failure = {};

  void fail(Failure why) {
    if (!failure) failure = std::move(why);
  }
};

void QueueAdministration::list(std::string_view prefix, Done<std::vector<LockStatus>> done) {
  const auto listing = std::make_shared<Listing>(Listing{
      .pattern = keys_.pattern(prefix), .deadline = loop_.now() + spi::longest_patience, .done = std::move(done)});
  const std::vector<std::string> servers = topology_.key_of_each_server();
  listing->unanswered = servers.size();
  for (const std::string& key : servers) scan(listing, key, "0");
}

/// The keys of one server, which has `key`.
void QueueAdministration::scan(const std::shared_ptr<Listing>& listing, const std::string& key,
                               const std::string& cursor) {
  Command command;
  command.add("SCAN").add(cursor).add("MATCH").add(listing->pattern).add("COUNT").add(keys_at_once);
  topology_.send({.command = std::move(command),
                  .key = key,
                  .patience = listing->deadline - loop_.now(),
                  .on_reply = [this, listing, key](Result<Reply*> result) { scanned(listing, key, result); }});
}

void QueueAdministration::scanned(const std::shared_ptr<Listing>& listing, const std::string& key,
                                  Result<Reply*>& result) {
  if (!result.ok()) {
    listing->fail(std::move(result.failure()));
  } else if (Reply& reply = *result.value(); reply.elements.size() != 2) {
    listing->fail(Failure{Errc::store_failed, "the server gave an unexpected reply to SCAN"});
  } else {
    for (Reply& found : reply.elements[1].elements) listing->keys.insert(std::move(found.text));
    const std::string cursor = reply.elements[0].text;
    if (cursor != "0" && loop_.now() < listing->deadline) return scan(listing, key, cursor);
    if (cursor != "0") {
      listing->fail(Failure{Errc::store_failed, topology_.shown() +
                                                    " has so many keys that a listing takes more than a second; " +
                                                    "give the locks a database of their own"});
    }
  }
  if (--listing->unanswered > 0) return;
  if (listing->failure || listing->keys.empty()) return finish(*listing);
  show(listing);
}

void QueueAdministration::show(const std::shared_ptr<Listing>& listing) {
  std::vector<Keys::Parsed> lines;
  for (const std::string& key : listing->keys) {
    lines.push_back(Keys::parse(key));
    if (lines.size() == lines_at_once) show(listing, std::exchange(lines, {}));
  }
  if (!lines.empty()) show(listing, lines);
}

void QueueAdministration::show(const std::shared_ptr<Listing>& listing, const std::vector<Keys::Parsed>& lines) {
  ++listing->unanswered;
  ask_about(lines, listing->deadline - loop_.now(), [listing](Result<std::vector<std::optional<LockStatus>>> locks) {
    if (!locks.ok()) {
      listing->fail(std::move(locks.failure()));
    } else {
      for (std::optional<LockStatus>& lock : locks.value()) {
        if (lock) listing->locks.push_back(*std::move(lock));
      }
    }
    if (--listing->unanswered == 0) finish(*listing);
  });
}

void QueueAdministration::finish(Listing& listing) {
  if (listing.failure) return listing.done(*std::move(listing.failure));
  std::ranges::sort(listing.locks, [](const LockStatus& a, const LockStatus& b) {
    return a.name != b.name ? a.name < b.name : a.kind < b.kind;
  });
  listing.done(std::move(listing.locks));
}

// --- changing -------------------------------------------------------------------------------------------------------

void QueueAdministration::change(const LockName& name, LockKind kind, const Script& script,
                                 const std::vector<std::string>& arguments, Done<std::size_t> done) {
  const LineKeys keys = keys_.line(name.text(), kind);
  Command command;
  command.add(4).add(keys.line).add(keys.claims).add(keys.order).add(keys.counter);
  for (const std::string& argument : arguments) command.add(argument);
  topology_.send({.command = std::move(command),
                  .script = &script,
                  .key = keys.line,
                  .on_reply = [done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    done(static_cast<std::size_t>(result.value()->integer));
                  }});
}

void QueueAdministration::evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) {
  change(name, kind, evict_script(), {std::to_string(up_to)}, std::move(done));
}

void QueueAdministration::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request,
                                         Done<std::size_t> done) {
  const milliseconds within = std::clamp(request.within, milliseconds::zero(), longest_request);
  change(name, kind, ask_script(), {std::to_string(within.count()), request.reason}, std::move(done));
}

void QueueAdministration::resize(const LockName& name, std::uint32_t total, Done<bool> done) {
  if (auto failure = kit::why_invalid_total(name, total)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  change(name, LockKind::semaphore, resize_script(), {std::to_string(total)},
         [done = std::move(done)](Result<std::size_t> result) mutable {
           if (!result.ok()) return done(std::move(result.failure()));
           done(result.value() == 1);
         });
}

void QueueAdministration::now(Done<system_clock::time_point> done) { ask_time(topology_, std::move(done)); }

}  // namespace holdfast::redis
