#include "backends/redis/queue_scripts.hpp"

#include <string_view>

#include "backends/redis/queue_line.hpp"

// Every script begins with the way that nearly all requests take, and only then, where that was not possible, defines
// the functions for the others: each redis.call counts, and so does each closure.

namespace holdfast::redis {
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

}  // namespace

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

}  // namespace holdfast::redis
