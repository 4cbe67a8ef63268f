#include "backends/redis/layouts/queue_scripts.hpp"

#include <string_view>

#include "backends/redis/layouts/queue_line.hpp"

// Every script begins with the ways that nearly all requests take, and only then, where those were not possible,
// defines the functions for the others. Each redis.call counts, and so does each closure, each argument, and each
// number that has to be printed: string.format('%d') does it in a fraction of the time that the server's own conversion
// takes.

namespace holdfast::redis {
namespace {

// Acquire and release are one script, because the first request of a connection sends the text: so the first release,
// which somebody may be waiting for, is sent without it.
//
// KEYS: the line's four. ARGV of a release: id. 1 if it was there, else 0.
// ARGV of an acquire: id; the tail of the record; lease; 'r' to be refused when it is busy; the id that it replaces, or
// ''; lock delay, if there is one. Milliseconds. The number alone if the name was free; {$absent} if refused;
// {$other_total, total} if there are other permits than it wants; else what describe() says.
//
// It has two parts, with the functions between them. The first returns where nearly all requests can be answered
// without the functions, and leaves the others to the second.
//
// A release: of the only claim; and of a holder that needs everything, before a waiter that does, too: then the line's
// state stays.
// An acquire: of a free name; refused by the only claim; and of one more behind a holder that needs everything: nobody
// else holds, nothing is over, and nobody can enter. That holder's number is the largest that was given.
constexpr std::string_view claim_quickly = R"lua(
local call = redis.call
local id, tail, lease, state, began, expires, opens, units, total = ARGV[1], ARGV[2], ARGV[3]
if not tail then
  state = call('GET', KEYS[1])
  if not state then return 0 end
  if state:byte() == $simple then
    if state:sub($simple_id) ~= id then return 0 end
    expires, opens = struct.unpack('<dd', state, $simple_expires_at)
    if opens > expires then
      local time = call('TIME')
      if time[1] * 1000000 + time[2] >= expires then return 0 end
    end
    return call('DEL', KEYS[1])
  end

  local used, limit = struct.unpack($state, state, 2)
  local two = call('ZRANGE', KEYS[3], 0, 1)
  local next_one = two[2]
  local records = two[1] == id and next_one and call('HMGET', KEYS[2], id, next_one)
  if records and records[1] and records[2] then
    local time = call('TIME')
    local now = time[1] * 1000000 + time[2]
    local number, _, ends, _, _, taken = struct.unpack($to_units, records[1])
    local granted, _, its_end, its_opening, _, wanted, _, client = struct.unpack($to_client, records[2])
    local sole = number > 0 and ends > now and taken == used and used == limit
    if sole and granted == 0 and its_end > now and wanted == limit then
      local its_number = now
      if call('ZADD', KEYS[4], 'GT', 'CH', string.format('%d', now), 'n') == 0 then
        its_number = tonumber(call('ZINCRBY', KEYS[4], 1, 'n'))
      end
      call('ZREM', KEYS[3], id)
      call('HDEL', KEYS[2], id, 'a' .. id)
      call('HSET', KEYS[2], next_one, struct.pack('<dd', its_number, now) .. records[2]:sub($expires_at))
      call('ZADD', KEYS[3], string.format('%d', its_opening), next_one)
      local channel = KEYS[1]:match($before_client) .. 'client:' .. client
      local left = math.floor((its_end - now) / 1000)
      call($publish, channel, 'g' .. next_one .. string.format('%d %d ', its_number, left) .. KEYS[1])
      return 1
    end
  end
else
  local time = call('TIME')
  began = time[1] * 1000000 + time[2]
  local delay = ARGV[6]
  expires = began + lease * 1000
  opens = delay and expires + delay * 1000 or expires
  local lasts = delay and string.format('%d', lease + delay) or lease
  state = 'S' .. id .. struct.pack($times, began, began, expires, opens) .. tail
  if call('SET', KEYS[1], state, 'NX', 'PX', lasts) then
    if call('ZADD', KEYS[4], 'GT', 'CH', string.format('%d', began), 'n') == 1 then return began end
    local number = tonumber(call('ZINCRBY', KEYS[4], 1, 'n'))
    call('SET', KEYS[1], 'S' .. id .. struct.pack('<d', number) .. state:sub($simple_since_at), 'KEEPTTL')
    return number
  end

  local refuse, replaces, _ = ARGV[4] == 'r', ARGV[5]
  state = call('GET', KEYS[1])
  _, units, total = struct.unpack($terms, tail)
  if refuse and state:byte() == $simple then
    local holder = state:sub($simple_id)
    local until_then, _, taken, of = struct.unpack('<dBI4I4', state, $simple_opens_at)
    if holder ~= id and holder ~= replaces and until_then > began and total == of and units > of - taken then
      return {$absent}
    end
  end

  local used, limit, keep = 0
  if state:byte() == $full then used, limit, keep = struct.unpack($state, state, 2) end
  if not refuse and used > 0 and used == limit and limit == total and math.ceil(opens / 1000) + 1 <= keep then
    local first = call('ZRANGE', KEYS[3], 0, 0)[1]
    local found = first and call('HMGET', KEYS[2], first, id, replaces)
    if found and found[1] and not found[2] and not found[3] then
      local number, _, _, until_then, _, taken = struct.unpack($to_units, found[1])
      if number > 0 and until_then > began and taken == used then
        local last = tonumber(call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2])
        call('HSET', KEYS[2], id, struct.pack($times, 0, began, expires, opens) .. tail)
        call('ZADD', KEYS[3], string.format('%d', last < $queue and $queue or last + 1), id)
        local check_after = math.floor((until_then - began) / 1000) + 1
        return {$waiting, number + 1, tonumber(lease), call('ZCARD', KEYS[3]) - 1, check_after}
      end
    end
  end
end
)lua";

// What the first part did not answer.
constexpr std::string_view claim_slowly = R"lua(
if not tail then
  read_clock()
  enter(1, state)
  local record = find(id)
  if record then remove(id, record) end
  promote()
  leave()
  return record and 1 or 0
end

now = began
enter(1, state)
if ARGV[5] ~= '' and ARGV[5] ~= id then
  local replaced = find(ARGV[5])
  if replaced then
    remove(ARGV[5], replaced)
    promote()
  end
end
local found, asked = find(id)
if found then
  found = arm(id, found, lease)
  local answer = describe(id, found, asked)
  leave()
  return answer
end
promote()
if used == 0 then limit = total end
if limit ~= total then
  leave()
  return {$other_total, limit}
end
local last = redis.call('ZREVRANGE', order, 0, 0, 'WITHSCORES')[2]
local waits = last and tonumber(last) >= $queue
local fits = not waits and used <= limit and units <= limit - used
if ARGV[4] == 'r' and not fits then
  leave()
  return {$absent}
end
local number, score = 0, opens
if fits then
  number = mint()
  used = used + units
else
  score = waits and last + 1 or $queue
end
local record = struct.pack($times, number, now, expires, opens) .. tail
redis.call('HSET', claims, id, record)
redis.call('ZADD', order, score, id)
keep_until(opens)
local answer = describe(id, record)
leave()
return answer
)lua";

// KEYS: four for each claim. ARGV: for each claim its id, and a lease in milliseconds. For each claim {$absent} or what
// describe() says.
constexpr std::string_view renew_all = R"lua(
read_clock()
local answers = {}
for i = 1, #ARGV / 2 do
  local key, id, lease = KEYS[4 * i - 3], ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local state = redis.call('GET', key)
  local answer = {$absent}
  if state and state:byte() == $simple then
    local number, since, expires, opens = struct.unpack($times, state, $simple_record_at)
    if state:sub($simple_id) == id and expires > now then
      local ends = now + lease * 1000
      if ends > expires then
        opens = opens - expires + ends
        expires = ends
        local times = struct.pack($times, number, since, expires, opens)
        state = state:sub(1, $simple_record_at - 1) .. times .. state:sub($simple_terms_at)
        redis.call('SET', key, state, 'PXAT', string.format('%.0f', math.ceil(opens / 1000)))
      end
      answer = {$granted, number, math.floor((expires - now) / 1000)}
    end
  elseif state then
    enter(4 * i - 3, state)
    local record, asked = find(id)
    if record then record = arm(id, record, lease) end
    promote()
    -- It may have been granted just now.
    if record then answer = describe(id, redis.call('HGET', claims, id), asked) end
    leave()
  end
  answers[i] = answer
end
return answers
)lua";

// KEYS: the line's four. ARGV: id. {$absent} or what describe() says.
constexpr std::string_view downgrade_one = R"lua(
local state = redis.call('GET', KEYS[1])
if not state then return {$absent} end
read_clock()
enter(1, state)
local id = ARGV[1]
local record, asked = find(id)
local answer = {$absent}
if record then
  local number, _, _, _, mode, units = struct.unpack($to_units, record)
  if number > 0 and mode == $exclusive then
    used = used - units + 1
    record = record:sub(1, $terms_at - 1) .. struct.pack('<BI4', $shared, 1) .. record:sub($total_at)
    redis.call('HSET', claims, id, record)
  end
end
promote()
if record then answer = describe(id, redis.call('HGET', claims, id), asked) end
leave()
return answer
)lua";

}  // namespace

const Script& claim_script() {
  static const Script script = {{claim_quickly, queue_line::functions, claim_slowly}, queue_line::constants};
  return script;
}

const Script& renew_script() {
  static const Script script = {{queue_line::functions, renew_all}, queue_line::constants};
  return script;
}

const Script& downgrade_script() {
  static const Script script = {{queue_line::functions, downgrade_one}, queue_line::constants};
  return script;
}

}  // namespace holdfast::redis
