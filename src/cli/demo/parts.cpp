#include "cli/demo/parts.hpp"

#include <algorithm>

#include "cli/demo/gateway.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/once.hpp"

namespace holdfast::cli::demo {
namespace {

using Kind = Event::Kind;

Client open_client(const HostLink& link, const World& world) {
  Client client(world.url, {.label = std::string(name_of(link.host()))});
  if (client.traits().shared_between_processes) return client;
  throw Error(Errc::unsupported,
              "the demonstration has two processes, and this store serves only one; leave out --url, or name another");
}

/// Some stores have a shortest lease.
LockOptions lock_options(const Client& client, const World& world) {
  return {.ttl = std::max(world.lease, client.traits().min_ttl), .reason = "holdfast demo"};
}

void send(const HostLink& link, const World& world, Token token) {
  PhoneGateway gateway(world.gateway);
  link.tell(gateway.send(link.host(), token) ? Kind::sent : Kind::refused, token);
}

}  // namespace

void send_without_lock(const HostLink& link, const World& world) {
  link.tell(Kind::begins);
  link.await_cue();
  PhoneGateway(world.gateway).send(link.host());
  link.tell(Kind::sent);
}

void send_once_per_hour(const HostLink& link, const World& world) {
  link.tell(Kind::begins);
  Client client = open_client(link, world);
  const LockOptions options = lock_options(client, world);
  Once hourly(client, world.lock, std::chrono::hours(1), {.lock = options});
  std::optional<Run> run = hourly.try_begin();
  if (!run) {
    link.tell(Kind::waits);
    run = hourly.begin();
  }
  if (!run) return link.tell(Kind::skips);
  link.tell_acquired(run->hold().token(), options.ttl);
  link.await_cue();
  send(link, world, run->hold().token());
  link.tell(Kind::released);  // before it is: what the other host does then, is told after it
  run->succeed();
}

void send_under_lock(const HostLink& link, const World& world) {
  link.tell(Kind::begins);
  Client client = open_client(link, world);
  const LockOptions options = lock_options(client, world);
  Mutex mutex(client, world.lock, options);
  std::optional<Hold> hold = mutex.try_acquire();
  if (!hold) {
    link.tell(Kind::waits);
    hold = mutex.acquire();
  }
  link.tell_acquired(hold->token(), options.ttl);
  if (hold->valid()) link.tell(Kind::checked);
  link.await_cue();
  send(link, world, hold->token());
  if (!hold->valid()) return link.tell(Kind::lost);
  link.tell(Kind::released);
  hold->release();
}

}  // namespace holdfast::cli::demo
