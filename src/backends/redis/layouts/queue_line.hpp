#pragma once

#include <string_view>

/// How the layout `queue` keeps a line of claims, and the functions by which its scripts change one.
///
/// | key     | type       | one claim holds, nobody waits   | else                                               |
/// |---------|------------|---------------------------------|----------------------------------------------------|
/// | line    | string     | 'S', the claim's id, its record | 'F', units used, units there are, when keys expire |
/// | claims  | hash       | -                               | id -> record; 'a' id -> a wish that it let go      |
/// | order   | sorted set | -                               | holders by when they open, then waiters by arrival |
/// | counter | sorted set | the largest number ever granted | the same                                           |
///
/// So a free name costs one SET NX, and a place in the line is a rank. Scores below `queue` are times, and those from
/// there on places. The modes differ only in how many units they take: permits k of n; shared claims 1 and exclusive
/// ones all of a number that nobody reaches.
///
/// A record is: number (0 while it waits), since, expires, opens, mode, units, total, client, description. Times are
/// microseconds of the server's clock; they and the numbers are doubles, exact below 2^53. `opens` is later than
/// `expires` by the claim's lock delay: in between a claim that was granted is a ghost, which nobody finds but which
/// still takes its place.
///
/// Keys expire by themselves when nothing in them counts any more, or up to a minute later; only the counter stays.
namespace holdfast::redis::queue_line {

/// Microseconds from which on scores are places; what a time can be is far below.
inline constexpr std::string_view functions = R"lua(
local queue = 4500000000000000
local line, claims, order, counter, before, used, limit, keep
local now

local function read_clock()
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function rearmed(record, number, since, expires, opens)
  return struct.pack('<dddd', number, since, expires, opens) .. record:sub(33)
end

-- A larger one than ever before, and not below the time of day: so it rises even if the server has lost its data.
local function mint()
  if redis.call('ZADD', counter, 'GT', 'CH', now, 'n') == 1 then return now end
  return tonumber(redis.call('ZINCRBY', counter, 1, 'n'))
end

local function tell(kind, client, id, number, lease)
  local channel = line:sub(1, line:find(':{', 1, true)) .. 'client:' .. client
  redis.call('PUBLISH', channel, kind .. id .. string.format('%.0f %.0f ', number, lease) .. line)
end

local function keep_until(opens)
  local needed = math.ceil(opens / 1000) + 1
  if needed <= keep then return end
  keep = needed + math.floor(math.min(needed - now / 1000, 60000))
  redis.call('PEXPIREAT', claims, keep)
  redis.call('PEXPIREAT', order, keep)
end

-- Without a record, somebody else has deleted it.
local function remove(id, record)
  redis.call('ZREM', order, id)
  if not record then return end
  local number, _, _, _, _, units = struct.unpack('<ddddBI4', record)
  redis.call('HDEL', claims, id, 'a' .. id)
  if number > 0 then used = used - units end
end

-- Strictly in order: one that does not fit blocks those behind it, or it could wait for ever. A lease stays as it is: a
-- waiter that died must not hold up others for a lease of its own.
local function promote()
  while used < limit do
    local id = redis.call('ZRANGEBYSCORE', order, queue, '+inf', 'LIMIT', 0, 1)[1]
    if not id then return end
    local record = redis.call('HGET', claims, id)
    local expires, opens, units, client, _ = 0
    if record then _, _, expires, opens, _, units, _, client = struct.unpack('<ddddBI4I4c32', record) end
    if expires <= now then
      remove(id, record)
    elseif units > limit - used then
      return
    else
      local number = mint()
      used = used + units
      redis.call('HSET', claims, id, rearmed(record, number, now, expires, opens))
      redis.call('ZADD', order, opens, id)
      tell('g', client, id, number, math.floor((expires - now) / 1000))
    end
  end
end

-- Opens the line whose keys begin at KEYS[first], which must exist: brings it into its second form, and removes whoever
-- keeps nobody out any more.
local function enter(first, state)
  line, claims, order, counter = KEYS[first], KEYS[first + 1], KEYS[first + 2], KEYS[first + 3]
  before = state
  if state:byte() == 70 then
    used, limit, keep = struct.unpack('<ddd', state, 2)
  else
    local id, record = state:sub(2, 17), state:sub(18)
    local _, _, _, opens, _, units, total = struct.unpack('<ddddBI4I4', record)
    used, limit, keep = units, total, 0
    redis.call('HSET', claims, id, record)
    redis.call('ZADD', order, opens, id)
    keep_until(opens)
  end
  local gone = redis.call('ZRANGEBYSCORE', order, '-inf', now)
  for i = 1, #gone do remove(gone[i], redis.call('HGET', claims, gone[i])) end
  promote()
end

-- After promote(), nobody holds only if nobody is there at all.
local function leave()
  if used == 0 then
    redis.call('DEL', line, claims, order)
    return
  end
  local state = 'F' .. struct.pack('<ddd', used, limit, keep)
  if state ~= before then redis.call('SET', line, state, 'PXAT', string.format('%.0f', keep)) end
end

-- The record of a claim that lives, and the wish that it let go. What it finds dead it puts out of the way.
local function find(id)
  local found = redis.call('HMGET', claims, id, 'a' .. id)
  local record = found[1]
  if not record then return nil end
  local number, _, expires, opens = struct.unpack('<dddd', record)
  if expires > now then return record, found[2] end
  remove(id, record)
  if number > 0 then
    local ghost = string.format('g%.0f', number)
    used = used + struct.unpack('<I4', record, 34)
    redis.call('HSET', claims, ghost, record)
    redis.call('ZADD', order, opens, ghost)
  end
  return nil
end

-- Never shortens a lease.
local function arm(id, record, lease)
  local number, since, expires, opens = struct.unpack('<dddd', record)
  local ends = now + lease * 1000
  if ends <= expires then return record end
  opens = ends + opens - expires
  record = rearmed(record, number, since, ends, opens)
  redis.call('HSET', claims, id, record)
  if number > 0 then redis.call('ZADD', order, opens, id) end
  keep_until(opens)
  return record
end

-- {1, number, lease[, milliseconds left to let go, why]} if granted; {2, least number, lease, place, check after} if it
-- waits.
local function describe(id, record, wish)
  local number, _, expires = struct.unpack('<ddd', record)
  local left = math.floor((expires - now) / 1000)
  if number > 0 and wish then
    local within = math.floor((struct.unpack('<d', wish) - now) / 1000)
    return {1, number, left, math.max(within, 0), wish:sub(9)}
  end
  if number > 0 then return {1, number, left} end
  local first = redis.call('ZRANGE', order, 0, 0, 'WITHSCORES')
  return {2, (redis.call('ZSCORE', counter, 'n') or 0) + 1, left, redis.call('ZRANK', order, id),
          math.floor((first[2] - now) / 1000) + 1}
end
)lua";

}  // namespace holdfast::redis::queue_line
