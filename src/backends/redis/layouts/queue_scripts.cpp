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
// which somebody may be waiting for, is sent without it. A release has one argument.

// KEYS: the line's four. ARGV: id. 1 if it was there.
// The last part makes way for the first that waits, where both need everything: then the line's state stays.
constexpr std::string_view release_quickly = R"lua(
local call = redis.call
local id, tail, lease, state, began, expires, opens, units, total = ARGV[1], ARGV[2], ARGV[3]
if not tail then
  state = call('GET', KEYS[1])
  if not state then return 0 end
  if state:byte() == 83 then
    if state:sub(2, 17) ~= id then return 0 end
    expires, opens = struct.unpack('<dd', state, 34)
    if opens > expires then
      local time = call('TIME')
      if time[1] * 1000000 + time[2] >= expires then return 0 end
    end
    return call('DEL', KEYS[1])
  end

  local used, limit = struct.unpack('<dd', state, 2)
  local two = call('ZRANGE', KEYS[3], 0, 1)
  local heir = two[2]
  local records = two[1] == id and heir and call('HMGET', KEYS[2], id, heir)
  if records and records[1] and records[2] then
    local time = call('TIME')
    local now = time[1] * 1000000 + time[2]
    local number, _, ends, _, _, taken = struct.unpack('<ddddBI4', records[1])
    local granted, _, its_end, its_opening, _, wanted, _, client = struct.unpack('<ddddBI4I4c32', records[2])
    local sole = number > 0 and ends > now and taken == used and used == limit
    if sole and granted == 0 and its_end > now and wanted == limit then
      local its_number = now
      if call('ZADD', KEYS[4], 'GT', 'CH', string.format('%d', now), 'n') == 0 then
        its_number = tonumber(call('ZINCRBY', KEYS[4], 1, 'n'))
      end
      call('ZREM', KEYS[3], id)
      call('HDEL', KEYS[2], id, 'a' .. id)
      call('HSET', KEYS[2], heir, struct.pack('<dd', its_number, now) .. records[2]:sub(17))
      call('ZADD', KEYS[3], string.format('%d', its_opening), heir)
      local channel = KEYS[1]:sub(1, KEYS[1]:find(':{', 1, true)) .. 'client:' .. client
      call('PUBLISH', channel, 'g' .. heir .. string.format('%d %d ', its_number, (its_end - now) / 1000) .. KEYS[1])
      return 1
    end
  end
)lua";

// KEYS: the line's four. ARGV: id; the tail of the record; lease; 'r' to be refused when it is busy; the id that it
// replaces, or ''; lock delay, if there is one. Milliseconds.
// Answers the number alone if the name was free; {0} if refused; {3, total} if there are other permits than it wants;
// else what describe() says.
// The last part is for one more behind a holder that needs everything: nobody else holds, nothing is over, and nobody
// can enter. That holder's number is the largest that was given.
constexpr std::string_view acquire_quickly = R"lua(
else
  local time = call('TIME')
  began = time[1] * 1000000 + time[2]
  local delay = ARGV[6]
  expires = began + lease * 1000
  opens = delay and expires + delay * 1000 or expires
  local lasts = delay and string.format('%d', lease + delay) or lease
  state = 'S' .. id .. struct.pack('<dddd', began, began, expires, opens) .. tail
  if call('SET', KEYS[1], state, 'NX', 'PX', lasts) then
    if call('ZADD', KEYS[4], 'GT', 'CH', string.format('%d', began), 'n') == 1 then return began end
    local number = tonumber(call('ZINCRBY', KEYS[4], 1, 'n'))
    call('SET', KEYS[1], 'S' .. id .. struct.pack('<d', number) .. state:sub(26), 'KEEPTTL')
    return number
  end

  local refuse, replaces, _ = ARGV[4] == 'r', ARGV[5]
  state = call('GET', KEYS[1])
  _, units, total = struct.unpack('<BI4I4', tail)
  if refuse and state:byte() == 83 then
    local holder = state:sub(2, 17)
    local until_then, _, taken, of = struct.unpack('<dBI4I4', state, 42)
    if holder ~= id and holder ~= replaces and until_then > began and total == of and units > of - taken then
      return {0}
    end
  end

  local used, limit, keep = 0
  if state:byte() == 70 then used, limit, keep = struct.unpack('<ddd', state, 2) end
  if not refuse and used > 0 and used == limit and limit == total and math.ceil(opens / 1000) + 1 <= keep then
    local first = call('ZRANGE', KEYS[3], 0, 0)[1]
    local found = first and call('HMGET', KEYS[2], first, id, replaces)
    if found and found[1] and not found[2] and not found[3] then
      local number, _, _, until_then, _, taken = struct.unpack('<ddddBI4', found[1])
      if number > 0 and until_then > began and taken == used then
        local last = tonumber(call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2])
        local queue = 4500000000000000
        call('HSET', KEYS[2], id, struct.pack('<dddd', 0, began, expires, opens) .. tail)
        call('ZADD', KEYS[3], string.format('%d', last < queue and queue or last + 1), id)
        local check_after = math.floor((until_then - began) / 1000) + 1
        return {2, number + 1, tonumber(lease), call('ZCARD', KEYS[3]) - 1, check_after}
      end
    end
  end
end
)lua";

constexpr std::string_view release_else = R"lua(
if not tail then
  read_clock()
  enter(1, state)
  local record = find(id)
  if record then remove(id, record) end
  promote()
  leave()
  return record and 1 or 0
end
)lua";

constexpr std::string_view acquire_else = R"lua(
now = began
enter(1, state)
if ARGV[5] ~= '' and ARGV[5] ~= id then
  local replaced = find(ARGV[5])
  if replaced then
    remove(ARGV[5], replaced)
    promote()
  end
end
local found, wish = find(id)
if found then
  found = arm(id, found, lease)
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
if ARGV[4] == 'r' and not fits then
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
local record = struct.pack('<dddd', number, now, expires, opens) .. tail
redis.call('HSET', claims, id, record)
redis.call('ZADD', order, score, id)
keep_until(opens)
local answer = describe(id, record)
leave()
return answer
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

}  // namespace

const Script& claim_script() {
  static const Script script = {release_quickly, acquire_quickly, queue_line::functions, release_else, acquire_else};
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

}  // namespace holdfast::redis
