// `redis:` in its layouts, on a server that keeps its data across a restart.

#include <atomic>

#include "stores/fixture.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
namespace {

/// One for all cases of a process that do not stop it: for 10,000 of them, where each has a database of its own.
const RedisServer& shared_server() {
  static const RedisServer server({.keeps_data = true, .arguments = {"--databases", "10000"}});
  return server;
}

class RedisPrefix final : public Fixture {
 public:
  std::string url() const override { return url_; }

 private:
  const std::string url_ = shared_server().url() + "?prefix=" + new_prefix();
};

/// The names of plain locks have no prefix.
class RedisDatabase final : public Fixture {
 public:
  std::string url() const override { return url_; }

 private:
  static inline std::atomic<int> made = 0;
  const std::string url_ = shared_server().url() + "/" + std::to_string(++made) + "?layout=plain";
};

struct DurableServer : RedisServer {
  DurableServer() : RedisServer({.keeps_data = true}) {}
};

struct PlainServer : DurableServer {
  std::string url() const { return DurableServer::url() + "?layout=plain"; }
};

const RegisterFixture queue({
    .name = "redis",
    .capabilities = {.separate_processes = true, .fifo = true, .has_server = true, .keeps_tokens = true},
    .make = make_fixture<RedisPrefix>,
    .make_with_own_server = make_fixture<OwnServers<DurableServer>>,
    .url_at = [](const std::string& address) { return "redis://" + address; },
});

const RegisterFixture plain({
    .name = "redis_plain",
    .capabilities = {.separate_processes = true,
                     .has_server = true,
                     .keeps_tokens = true,
                     .shared = false,
                     .permits = false,
                     .lock_delay = false,
                     .lists = false,
                     .release_requests = false},
    .make = make_fixture<RedisDatabase>,
    .make_with_own_server = make_fixture<OwnServers<PlainServer>>,
    .url_at = [](const std::string& address) { return "redis://" + address + "?layout=plain"; },
});

}  // namespace
}  // namespace holdfast::test
