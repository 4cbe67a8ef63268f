#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "backends/redis/protocol/script.hpp"

/// How the layout `queue` keeps a line of claims, and the functions by which its scripts change one.
///
/// | key     | type       | one claim holds, nobody waits   | else                                               |
/// |---------|------------|---------------------------------|----------------------------------------------------|
/// | line    | string     | 'S', the claim's id, its record | 'F', units used, units there are, when keys expire |
/// | claims  | hash       | -                               | id -> record; 'a' id -> until when it was asked to |
/// |         |            |                                 | let go, and why                                    |
/// | order   | sorted set | -                               | holders by when they open, then waiters by arrival |
/// | counter | sorted set | the largest number ever granted | the same                                           |
///
/// So a free name costs one SET NX, and a place in the line is a rank. Scores below $queue are times, and those from
/// there on places; what a time can be is far below. The modes differ only in how many units they take: permits k of n;
/// shared claims 1 and exclusive ones all of a number that nobody reaches.
///
/// A record is: number (0 while it waits), since, expires, opens, mode, units, total, client, description. Times are
/// microseconds of the server's clock; they and the numbers are doubles, exact below 2^53. `opens` is later than
/// `expires` by the claim's lock delay: in between a claim that was granted is a ghost, which nobody finds but which
/// still takes its place.
///
/// Keys expire by themselves when nothing in them counts any more, or up to a minute later; only the counter stays.
///
/// Scripts tell the client of a claim what has happened to it by a message on the client's channel, which Keys names,
/// too: `<prefix>:client:<client>`. One server delivers a message whatever the channel is called, so a client has one
/// channel for all of its claims, and subscribes to it once. In a cluster a script can SPUBLISH only to a channel with
/// the hash tag of its keys. There a client needs a channel for each bucket in which it waits, such as
/// `<prefix>:{<bucket>}:client:<client>`, and the scripts another $publish and another $before_client ('^[^}]*}:'). On
/// one server that would be worse: each claim that waits in a new bucket would cost another subscription, and another
/// look once it is confirmed.
namespace holdfast::redis::queue_line {

/// What an answer of a script begins with.
enum Says : std::uint8_t { absent = 0, granted = 1, waiting = 2, other_total = 3 };

/// What stands in the scripts for a name with a $. A record's parts begin at $..._at; those of the record in a simple
/// state 17 bytes later, behind the 'S' and the id.
inline constexpr auto constants = std::to_array<Script::Constant>({
    // The first byte of a state: 'S' or 'F'.
    {"simple", "83"},
    {"full", "70"},
    // struct's formats: a full state, and a record up to a part of it.
    {"state", "'<ddd'"},
    {"times", "'<dddd'"},  // number, since, expires, opens
    {"to_units", "'<ddddBI4'"},
    {"to_total", "'<ddddBI4I4'"},
    {"to_client", "'<ddddBI4I4c32'"},
    {"terms", "'<BI4I4'"},  // mode, units, total
    {"expires_at", "17"},
    {"terms_at", "33"},
    {"units_at", "34"},
    {"total_at", "38"},
    {"description_at", "74"},
    {"simple_id", "2, 17"},
    {"simple_record_at", "18"},
    {"simple_since_at", "26"},
    {"simple_expires_at", "34"},
    {"simple_opens_at", "42"},
    {"simple_terms_at", "50"},
    {"simple_total_at", "55"},
    {"queue", "4500000000000000"},
    {"exclusive", "1"},
    {"shared", "2"},
    // What an answer begins with, as below.
    {"absent", "0"},
    {"granted", "1"},
    {"waiting", "2"},
    {"other_total", "3"},
    {"publish", "'PUBLISH'"},
    // What a client's channel has in common with the key of the line.
    {"before_client", "'^[^{]*'"},
});

inline constexpr std::string_view functions = R"lua(
local line, claims, order, counter, before, used, limit, keep
local now

local function read_clock()
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function rearmed(record, number, since, expires, opens)
  return struct.pack($times, number, since, expires, opens) .. record:sub($terms_at)
end

-- A larger one than ever before, and not below the time of day: so it rises even if the server has lost its data.
local function mint()
  if redis.call('ZADD', counter, 'GT', 'CH', now, 'n') == 1 then return now end
  return tonumber(redis.call('ZINCRBY', counter, 1, 'n'))
end

local function tell(kind, client, id, number, lease)
  local channel = line:match($before_client) .. 'client:' .. client
  redis.call($publish, channel, kind .. id .. string.format('%.0f %.0f ', number, lease) .. line)
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
  local number, _, _, _, _, units = struct.unpack($to_units, record)
  redis.call('HDEL', claims, id, 'a' .. id)
  if number > 0 then used = used - units end
end

-- Strictly in order: one that does not fit blocks those behind it, or it could wait for ever. A lease stays as it is: a
-- waiter that died must not hold up others for a lease of its own.
local function promote()
  while used < limit do
    local id = redis.call('ZRANGEBYSCORE', order, $queue, '+inf', 'LIMIT', 0, 1)[1]
    if not id then return end
    local record = redis.call('HGET', claims, id)
    local expires, opens, units, client, _ = 0
    if record then _, _, expires, opens, _, units, _, client = struct.unpack($to_client, record) end
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
  if state:byte() == $full then
    used, limit, keep = struct.unpack($state, state, 2)
  else
    local id, record = state:sub($simple_id), state:sub($simple_record_at)
    local _, _, _, opens, _, units, total = struct.unpack($to_total, record)
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
  local state = 'F' .. struct.pack($state, used, limit, keep)
  if state ~= before then redis.call('SET', line, state, 'PXAT', string.format('%.0f', keep)) end
end

-- The record of a claim that lives, and whether it was asked to let go: until when, and why. What it finds dead it puts
-- out of the way.
local function find(id)
  local found = redis.call('HMGET', claims, id, 'a' .. id)
  local record = found[1]
  if not record then return nil end
  local number, _, expires, opens = struct.unpack($times, record)
  if expires > now then return record, found[2] end
  remove(id, record)
  if number > 0 then
    local ghost = string.format('g%.0f', number)
    used = used + struct.unpack('<I4', record, $units_at)
    redis.call('HSET', claims, ghost, record)
    redis.call('ZADD', order, opens, ghost)
  end
  return nil
end

-- Never shortens a lease.
local function arm(id, record, lease)
  local number, since, expires, opens = struct.unpack($times, record)
  local ends = now + lease * 1000
  if ends <= expires then return record end
  opens = ends + opens - expires
  record = rearmed(record, number, since, ends, opens)
  redis.call('HSET', claims, id, record)
  if number > 0 then redis.call('ZADD', order, opens, id) end
  keep_until(opens)
  return record
end

-- {$granted, number, lease[, milliseconds left to let go, why]}, or {$waiting, least number, lease, place, check
-- after}.
local function describe(id, record, asked)
  local number, _, expires = struct.unpack($times, record)
  local left = math.floor((expires - now) / 1000)
  if number > 0 and asked then
    local within = math.floor((struct.unpack('<d', asked) - now) / 1000)
    return {$granted, number, left, math.max(within, 0), asked:sub(9)}
  end
  if number > 0 then return {$granted, number, left} end
  local first = redis.call('ZRANGE', order, 0, 0, 'WITHSCORES')
  return {$waiting, (redis.call('ZSCORE', counter, 'n') or 0) + 1, left, redis.call('ZRANK', order, id),
          math.floor((first[2] - now) / 1000) + 1}
end
)lua";

}  // namespace holdfast::redis::queue_line
