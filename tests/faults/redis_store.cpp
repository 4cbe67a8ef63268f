#include "faults/redis_store.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::faults {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

/// By how much the clock is set back; more than passes between two such harms would not be noticed each time.
constexpr auto setback = 10s;

std::uint64_t number(const std::string& answer) {
  if (answer.starts_with("ERROR")) throw std::runtime_error("the server says: " + answer);
  return std::stoull(answer);
}

}  // namespace

std::uint64_t RedisStore::do_harm(Sabotage sabotage, milliseconds length) {
  switch (sabotage) {
    case Sabotage::restart: return restart(length, true);
    case Sabotage::restart_empty: return restart(length, false);
    case Sabotage::pause: return pause(length);
    case Sabotage::cut_listeners: return number(server_.command({"CLIENT", "KILL", "TYPE", "pubsub"}));
    case Sabotage::cut_everybody: return proxy_.reset();
    case Sabotage::forget_scripts: {
      const std::uint64_t scripts = info("memory", "number_of_cached_scripts");
      server_.command({"SCRIPT", "FLUSH"});
      return scripts;
    }
    case Sabotage::forget_and_set_back: clock_.step(-setback); [[fallthrough]];
    case Sabotage::forget: {
      const std::uint64_t keys = number_of_keys();
      server_.command({"FLUSHALL"});
      return keys;
    }
    default: throw std::invalid_argument("nobody can do this to Redis: " + std::string(name_of(sabotage)));
  }
}

std::uint64_t RedisStore::restart(milliseconds length, bool with_data) {
  const std::uint64_t keys = number_of_keys();
  const std::uint64_t connections = info("clients", "connected_clients") - 1;
  server_.kill();
  if (!with_data) server_.delete_data();
  stay_away(length);
  server_.start();
  if (with_data && keys > 0 && number_of_keys() == 0) throw std::runtime_error("the server has not kept its data");
  return with_data ? connections : keys;
}

std::uint64_t RedisStore::pause(milliseconds length) const {
  const auto begin = std::chrono::steady_clock::now();
  server_.command({"CLIENT", "PAUSE", std::to_string(length.count()), "ALL"});
  server_.command({"PING"});  // waits like everybody else
  return std::chrono::steady_clock::now() - begin >= length && length > 0ms ? 1 : 0;
}

std::uint64_t RedisStore::info(const std::string& section, const std::string& field) const {
  const std::string all = server_.command({"INFO", section});
  const std::size_t at = all.find(field + ":");
  if (at == std::string::npos) throw std::runtime_error("INFO says nothing of " + field + ": " + all);
  return std::stoull(all.substr(at + field.size() + 1));
}

std::uint64_t RedisStore::number_of_keys() const { return number(server_.command({"DBSIZE"})); }

namespace {

const RegisterStore queue({.name = "redis",
                           .make = [] { return std::make_unique<RedisStore>(RedisStore::Layout::queue); },
                           .sabotages = {Sabotage::restart, Sabotage::pause, Sabotage::forget_scripts,
                                         Sabotage::cut_listeners, Sabotage::cut_everybody, Sabotage::restart_empty,
                                         Sabotage::forget},
                           .controls = {Sabotage::forget_and_set_back}});
const RegisterStore plain({.name = "redis_plain",
                           .make = [] { return std::make_unique<RedisStore>(RedisStore::Layout::plain); },
                           .fifo = false,
                           .sabotages = {Sabotage::restart}});

}  // namespace
}  // namespace holdfast::faults
