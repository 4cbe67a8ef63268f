#include "backends/redis/layouts/hash_registers.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "backends/redis/protocol/script.hpp"
#include "kit/answer_soon.hpp"
#include "kit/rules.hpp"
#include "spi/part_name.hpp"

namespace holdfast::redis {

using base::Instant;
using spi::Done;
using spi::Failure;
using spi::Result;
using spi::Versioned;

namespace {

// The version after `version`: at least the server's time, in microseconds. A register that was lost in a failover, or
// with all data, would otherwise count on from an old version, and two different values would have had the same one.
constexpr std::string_view version_after = R"lua(
local function version_after(version)
  local time = redis.call('TIME')
  return string.format('%.0f', math.max(version + 1, time[1] * 1000000 + time[2]))
end
)lua";

// KEYS: the register. ARGV: the version that is expected, the new value. {1, version} if written, else {0, what was in
// the way}.
constexpr std::string_view write_if_unchanged = R"lua(
local version = redis.call('HGET', KEYS[1], 'v') or '0'
if version ~= ARGV[1] then return {0, redis.call('HMGET', KEYS[1], 'v', 'd')} end
local next = version_after(version)
redis.call('HSET', KEYS[1], 'v', next, 'd', ARGV[2])
redis.call('PUBLISH', KEYS[1], next)
return {1, next}
)lua";

// KEYS: the register. ARGV: what to add. The sum; or {1} if the value is not a number, {2} if the sum does not fit. The
// server adds, because 64 bits do not fit into a number of Lua.
constexpr std::string_view add_amount = R"lua(
local value = redis.call('HGET', KEYS[1], 'd')
if value then
  local sign, digits = value:match('^(%-?)0*(%d+)$')
  if not digits then return {1} end
  if digits == '0' then sign = '' end
  if sign .. digits ~= value then redis.call('HSET', KEYS[1], 'd', sign .. digits) end
end
local sum = redis.pcall('HINCRBY', KEYS[1], 'd', ARGV[1])
if type(sum) == 'table' then
  return {sum.err:find('overflow', 1, true) and 2 or 1}
end
local next = version_after(redis.call('HGET', KEYS[1], 'v') or '0')
redis.call('HSET', KEYS[1], 'v', next)
redis.call('PUBLISH', KEYS[1], next)
return redis.call('HGET', KEYS[1], 'd')
)lua";

const Script& write_script() {
  static const Script script = {{version_after, write_if_unchanged}};
  return script;
}
const Script& add_script() {
  static const Script script = {{version_after, add_amount}};
  return script;
}

template <class T>
bool parse(const std::string& text, T& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

/// What HMGET v d says.
std::optional<Versioned> versioned_from(Reply& reply) {
  if (!reply.is(Reply::Kind::array) || reply.elements.size() != 2) return std::nullopt;
  const Reply& version = reply.elements[0];
  Versioned now;
  if (version.is(Reply::Kind::nothing)) return now;
  if (!parse(version.text, now.version)) return std::nullopt;
  now.value = std::move(reply.elements[1].text);
  return now;
}

Failure not_a_register(const Topology& topology) {
  return {Errc::store_failed, topology.shown() + " has something else in the register's key"};
}

}  // namespace

void HashRegisters::read(const LockName& name, Done<Versioned> done) {
  const std::string key = keys_.register_of(name.text());
  Command command;
  command.add("HMGET").add(key).add("v").add("d");
  topology_.send({.command = std::move(command),
                  .key = key,
                  .on_reply = [this, done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    auto now = versioned_from(*result.value());
                    if (!now) return done(not_a_register(topology_));
                    done(*std::move(now));
                  }});
}

void HashRegisters::write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) {
  if (auto failure = kit::why_too_large(value.size(), max_value_bytes)) {
    return kit::answer_soon(loop_, std::move(done), *std::move(failure));
  }
  const std::string key = keys_.register_of(name.text());
  Command command;
  command.add(1).add(key).add(expected).add(value);
  topology_.send({.command = std::move(command),
                  .script = &write_script(),
                  .key = key,
                  .order = Request::Order::kept,
                  .on_reply = [this, value = std::make_unique<std::string>(std::move(value)),
                               done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    Reply& reply = *result.value();
                    if (reply.elements.size() != 2) return done(not_a_register(topology_));
                    WriteAnswer answer;
                    answer.written = reply.elements[0].integer == 1;
                    if (answer.written) {
                      answer.now.value = std::move(*value);
                      parse(reply.elements[1].text, answer.now.version);
                    } else {
                      auto now = versioned_from(reply.elements[1]);
                      if (!now) return done(not_a_register(topology_));
                      answer.now = *std::move(now);
                    }
                    done(std::move(answer));
                  }});
}

void HashRegisters::add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) {
  const std::string key = keys_.register_of(name.text());
  Command command;
  command.add(1).add(key).add(amount);
  topology_.send({.command = std::move(command),
                  .script = &add_script(),
                  .key = key,
                  .order = Request::Order::kept,
                  .on_reply = [this, done = std::move(done)](Result<Reply*> result) mutable {
                    if (!result.ok()) return done(std::move(result.failure()));
                    const Reply& reply = *result.value();
                    std::int64_t sum = 0;
                    if (reply.is(Reply::Kind::text) && parse(reply.text, sum)) return done(sum);
                    if (reply.elements.size() != 1) return done(not_a_register(topology_));
                    done(reply.elements[0].integer == 2 ? kit::sum_does_not_fit() : kit::not_a_number());
                  }});
}

// --- watching -------------------------------------------------------------------------------------------------------

void HashRegisters::watch(const LockName& name, std::uint64_t seen, Done<> done) {
  if (closed_) {
    return kit::answer_soon(loop_, std::move(done), Failure{Errc::closed, "the client is closed"});
  }
  // First the watch, then the question whether it comes too late: so no change falls in between.
  watches_.add(name, std::move(done));
  const std::string channel = keys_.register_of(name.text());
  listen(channel);
  if (channels_.listening_since(channel) != Instant::max()) {
    compare(name, seen);
  } else {
    unsure_.emplace(name.text(), seen);
  }
}

void HashRegisters::listen(const std::string& channel) {
  const Instant until = loop_.now() + listening_time;
  const bool is_new = listening_until_.insert_or_assign(channel, until).second;
  if (is_new) channels_.subscribe(channel, *this);
  if (!timer_.armed()) timer_.set(until);
}

void HashRegisters::stop_listening() {
  const Instant now = loop_.now();
  Instant next = Instant::max();
  for (auto at = listening_until_.begin(); at != listening_until_.end();) {
    if (at->second > now) {
      next = std::min(next, at->second);
      ++at;
    } else {
      channels_.unsubscribe(at->first);
      at = listening_until_.erase(at);
    }
  }
  timer_.set(next);
}

void HashRegisters::listening(const std::string& channel) {
  const LockName name = spi::PartName::stored(Keys::parse(channel).name);
  for (auto at = unsure_.lower_bound({name.text(), 0}); at != unsure_.end() && at->first == name.text();) {
    compare(name, at->second);
    at = unsure_.erase(at);
  }
}

void HashRegisters::heard(const std::string& channel, std::string_view /*version*/) {
  watches_.changed(spi::PartName::stored(Keys::parse(channel).name));
}

void HashRegisters::compare(const LockName& name, std::uint64_t seen) {
  read(name, [this, name, seen](const Result<Versioned>& now) {
    if (!closed_ && now.ok() && now.value().version != seen) watches_.changed(name);
  });
}

void HashRegisters::close() {
  closed_ = true;
  timer_.cancel();
  watches_.close({Errc::closed, "the client is closed"});
}

}  // namespace holdfast::redis
