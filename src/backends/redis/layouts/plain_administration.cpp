#include "backends/redis/layouts/plain_administration.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "backends/redis/layouts/claim_record.hpp"
#include "backends/redis/layouts/plain_lock.hpp"
#include "backends/redis/layouts/server_time.hpp"
#include "backends/redis/protocol/script.hpp"
#include "kit/answer_soon.hpp"

namespace holdfast::redis {

using spi::Done;
using spi::Failure;
using spi::milliseconds;
using spi::Result;
using std::chrono::system_clock;

namespace {

// KEYS: lock, holder, waiters. {{number, since, lease left, description} of the holder, of each waiter...}; {} if
// nobody is there, and {{}, ...} if nobody holds. A holder that is not ours has neither number nor description; a lease
// left of -1 does not end. Changes nothing.
constexpr std::string_view show_lock = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local value = redis.call('GET', KEYS[1])
local answer = {{}}
if value then
  local holder = {0, 0, redis.call('PTTL', KEYS[1]), ''}
  local said = redis.call('GET', KEYS[2])
  if said and said:sub($value_of_holder) == value then
    holder[1], holder[2] = struct.unpack($two_times, said, $number_at)
    holder[4] = said:sub($description_of_holder_at)
  end
  answer[1] = holder
end
local waiters = redis.call('HVALS', KEYS[3])
for i = 1, #waiters do
  local since, expires = struct.unpack($two_times, waiters[i])
  if expires > now then
    answer[#answer + 1] = {0, since, math.floor((expires - now) / 1000), waiters[i]:sub($description_of_waiter_at)}
  end
end
if not value and #answer == 1 then return {} end
return answer
)lua";

// KEYS: lock, holder. ARGV: the largest number to be evicted; who has none is below all numbers. How many were.
constexpr std::string_view evict_holder = R"lua(
local value = redis.call('GET', KEYS[1])
if not value then return 0 end
local said = redis.call('GET', KEYS[2])
local is_ours = said and said:sub($value_of_holder) == value
if is_ours and struct.unpack('<d', said, $number_at) > tonumber(ARGV[1]) then return 0 end
redis.call('DEL', KEYS[2])
return redis.call('DEL', KEYS[1])
)lua";

const Script& show_script() {
  static const Script script = {{show_lock}, plain_lock::constants};
  return script;
}
const Script& evict_script() {
  static const Script script = {{evict_holder}, plain_lock::constants};
  return script;
}

ClaimStatus status_from(const Reply& reply) {
  const auto& parts = reply.elements;
  ClaimStatus status;
  status.number = static_cast<std::uint64_t>(parts[0].integer);
  status.since = time_of_day(std::chrono::microseconds(parts[1].integer));
  status.lease_left = parts[2].integer >= 0 ? milliseconds(parts[2].integer) : milliseconds(LockOptions::max_ttl);
  if (!parts[3].text.empty()) RecordTail::describe(parts[3].text, status);
  return status;
}

/// Nothing if nobody is there.
std::optional<LockStatus> lock_from(const Reply& reply, const std::string& name) {
  if (reply.elements.empty()) return std::nullopt;
  LockStatus lock;
  lock.name = name;
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    if (reply.elements[i].elements.size() != 4) continue;
    (i == 0 ? lock.holders : lock.waiters).push_back(status_from(reply.elements[i]));
  }
  if (!lock.holders.empty()) lock.number = lock.holders[0].number;
  std::ranges::sort(lock.waiters, {}, &ClaimStatus::since);
  return lock;
}

}  // namespace

void PlainAdministration::show(const LockName& name, LockKind kind, Done<std::optional<LockStatus>> done) {
  if (kind == LockKind::semaphore) return kit::answer_soon(loop_, std::move(done), Result(std::optional<LockStatus>()));
  if (auto failure = keys_.why_taken(name.text())) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  const PlainKeys keys = keys_.plain(name.text());
  Command command;
  command.add(3).add(keys.lock).add(keys.holder).add(keys.waiters);
  topology_.send({.command = std::move(command),
                  .script = &show_script(),
                  .key = keys.lock,
                  .on_reply = [name = &name, done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    done(lock_from(*result.value(), name->text()));
                  }});
}

void PlainAdministration::list(std::string_view /*prefix*/, Done<std::vector<LockStatus>> done) {
  kit::answer_soon(loop_, std::move(done),
                   Failure{Errc::unsupported,
                           "the layout plain cannot tell which keys of the database are locks; it shows one by name"});
}

void PlainAdministration::evict(const LockName& name, LockKind kind, std::uint64_t up_to, Done<std::size_t> done) {
  if (kind == LockKind::semaphore) {
    return kit::answer_soon(
        loop_, std::move(done),
        Failure{Errc::unsupported, "the layout plain does not support semaphores; use layout=queue"});
  }
  if (auto failure = keys_.why_taken(name.text())) return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  const PlainKeys keys = keys_.plain(name.text());
  Command command;
  command.add(2).add(keys.lock).add(keys.holder).add(up_to);
  topology_.send({.command = std::move(command),
                  .script = &evict_script(),
                  .key = keys.lock,
                  .on_reply = [done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    done(static_cast<std::size_t>(result.value()->integer));
                  }});
}

void PlainAdministration::ask_to_release(const LockName&, LockKind, const ReleaseRequest&, Done<std::size_t> done) {
  kit::answer_soon(
      loop_, std::move(done),
      Failure{Errc::unsupported,
              "holders of the layout plain cannot be asked to release; break the lock, or use layout=queue"});
}

void PlainAdministration::resize(const LockName&, std::uint32_t, Done<bool> done) {
  kit::answer_soon(loop_, std::move(done),
                   Failure{Errc::unsupported, "the layout plain does not support semaphores; use layout=queue"});
}

void PlainAdministration::now(Done<system_clock::time_point> done) { ask_time(topology_, std::move(done)); }

}  // namespace holdfast::redis
