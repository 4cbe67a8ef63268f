#pragma once

#include <array>
#include <string_view>

#include "backends/redis/protocol/script.hpp"

/// How the layout `plain` keeps a lock.
///
/// | key     | type       | what is in it                                                                        |
/// |---------|------------|--------------------------------------------------------------------------------------|
/// | lock    | string     | the holder's random value; expires with its lease. The key is the lock's name itself |
/// | holder  | string     | the value again, number, since, description: what a holder of ours says of itself    |
/// | waiters | hash       | value -> since, expires, description, of each of our clients that waits              |
/// | counter | sorted set | the largest number ever granted, as in the layout `queue`                            |
///
/// Only the first of them decides who holds the lock, and it is all that other libraries know: SET NX PX to take it,
/// compare-and-delete, compare-and-expire. The others are ours, and right or not, they never let anybody in. What
/// `holder` says counts only while its value is the one in the lock.
///
/// A waiter has no place: each looks from time to time, and whoever finds the lock free takes it. Its record shows that
/// it waits, so that a renewal never brings a claim back that is gone. Numbers and times are as in queue_line.hpp.
namespace holdfast::redis::plain_lock {

/// What stands in the scripts for a name with a $.
inline constexpr auto constants = std::to_array<Script::Constant>({
    {"value_of_holder", "1, 32"},
    {"number_at", "33"},
    {"description_of_holder_at", "49"},
    {"two_times", "'<dd'"},  // of a holder: number, since; of a waiter: since, expires
    {"expires_of_waiter_at", "9"},
    {"description_of_waiter_at", "17"},
    {"longest_ttl", "2592000000"},  // milliseconds: LockOptions::max_ttl
    // What an answer begins with.
    {"absent", "0"},
    {"granted", "1"},
    {"waiting", "2"},
});

/// KEYS[at] to KEYS[at + 3]: lock, holder, waiters, counter.
inline constexpr std::string_view functions = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- A larger one than ever before, and not below the time of day.
local function mint(at)
  if redis.call('ZADD', KEYS[at + 3], 'GT', 'CH', now, 'n') == 1 then return now end
  return tonumber(redis.call('ZINCRBY', KEYS[at + 3], 1, 'n'))
end

-- The number of the grant. What is said of it lasts for as long as the lock.
local function say(at, value, lease, description)
  local number = mint(at)
  redis.call('SET', KEYS[at + 1], value .. struct.pack($two_times, number, now) .. description, 'PX', lease)
  redis.call('HDEL', KEYS[at + 2], value)
  return number
end

-- {$granted, number, lease} of who has the lock. Never shortens a lease.
local function keep(at, value, lease)
  local left = redis.call('PTTL', KEYS[at])
  if left >= 0 and left < tonumber(lease) then
    redis.call('PEXPIRE', KEYS[at], lease)
    redis.call('PEXPIRE', KEYS[at + 1], lease)
    left = tonumber(lease)
  end
  local said = redis.call('GET', KEYS[at + 1])
  local number
  if said and said:sub($value_of_holder) == value then
    number = struct.unpack('<d', said, $number_at)
  else
    number = say(at, value, left > 0 and left or $longest_ttl, '')
  end
  return {$granted, number, left}
end

-- {$waiting, least number, lease, place, milliseconds until the lock may be free} of who waits; -1: perhaps never.
local function wait(at, value, since, expires, description)
  redis.call('HSET', KEYS[at + 2], value, struct.pack($two_times, since, expires) .. description)
  local left = math.max(math.floor((expires - now) / 1000), 1)
  if redis.call('PTTL', KEYS[at + 2]) < left then redis.call('PEXPIRE', KEYS[at + 2], left) end
  -- Waiters that died are swept out by those that live, one at a time.
  local some = redis.call('HRANDFIELD', KEYS[at + 2], 1, 'WITHVALUES')
  if struct.unpack('<d', some[2], $expires_of_waiter_at) <= now then redis.call('HDEL', KEYS[at + 2], some[1]) end
  local least = (redis.call('ZSCORE', KEYS[at + 3], 'n') or 0) + 1
  return {$waiting, least, left, 1, redis.call('PTTL', KEYS[at])}
end
)lua";

}  // namespace holdfast::redis::plain_lock
