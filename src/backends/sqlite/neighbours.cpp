#include "backends/sqlite/neighbours.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "holdfast/error.hpp"

namespace holdfast::sqlite {
namespace {

/// So many connections are kept although nobody needs them now: two clients that take turns need them again and again.
constexpr std::size_t kept = 8;

/// So many clients are watched at most; claims behind others look after a while by themselves.
constexpr std::size_t at_most = 512;

constexpr auto soon = std::chrono::milliseconds(100);

}  // namespace

Neighbours::Neighbours(spi::Loop& loop, const Mailboxes& mailboxes, const Lifelines& lifelines, OnGone on_gone)
    : loop_(loop),
      mailboxes_(mailboxes),
      lifelines_(lifelines),
      on_gone_(std::move(on_gone)),
      look_at_unreached_(loop, [this] {
        for (const spi::ClaimId& id : std::exchange(unreached_, {})) look(id);
      }) {}

Neighbours::~Neighbours() {
  for (const auto& [client, neighbour] : neighbours_) loop_.unwatch(neighbour.connection.get());
}

void Neighbours::watch(const LockName& name, LockKind kind, spi::ClaimId id, const std::vector<ClientNumber>& ahead) {
  const auto found = waits_.find(id);
  if (found != waits_.end() && found->second.ahead == ahead) return;
  forget(id);
  waits_.insert_or_assign(id, Wait{name, kind, ahead});
  for (const ClientNumber client : ahead) {
    if (!watch_one(client, id)) return look(id);
  }
}

void Neighbours::forget(spi::ClaimId id) {
  const auto found = waits_.find(id);
  if (found == waits_.end()) return;
  const std::vector<ClientNumber> ahead = std::move(found->second.ahead);
  waits_.erase(found);
  for (const ClientNumber client : ahead) forget_one(client, id);
}

/// False if the client is not there any more.
bool Neighbours::watch_one(ClientNumber client, spi::ClaimId id) {
  if (const auto known = neighbours_.find(client); known != neighbours_.end()) {
    known->second.behind.insert(id);
    return true;
  }
  if (neighbours_.size() >= at_most) return true;
  PrivateDescriptor connection;
  bool alive = true;
  {
    const ForkGate::Use use;
    connection = mailboxes_.connect(client);
    if (!connection) alive = lifelines_.alive(client);
  }
  if (!connection) {
    // Unless it is dead it is about to end, or to open its mailbox, or too many connections wait there.
    if (alive) look_soon(id);
    return alive;
  }
  const int descriptor = connection.get();
  try {
    loop_.watch(descriptor, {.readable = true}, [this, client, descriptor](spi::Loop::Ready) {
      char byte = 0;
      const ssize_t size = ::recv(descriptor, &byte, 1, 0);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (size <= 0) gone(client);
    });
  } catch (const Error&) {  // the system has no resources left
    look_soon(id);
    return true;
  }
  neighbours_.emplace(client, Neighbour{std::move(connection), {id}});
  return true;
}

void Neighbours::look_soon(spi::ClaimId id) {
  unreached_.insert(id);
  if (!look_at_unreached_.armed()) look_at_unreached_.set(base::saturating_add(loop_.now(), soon));
}

void Neighbours::forget_one(ClientNumber client, spi::ClaimId id) {
  const auto found = neighbours_.find(client);
  if (found == neighbours_.end()) return;
  found->second.behind.erase(id);
  if (found->second.behind.empty() && neighbours_.size() > kept) disconnect(client);
}

void Neighbours::gone(ClientNumber client) {
  const std::set<spi::ClaimId> behind = std::move(neighbours_.at(client).behind);
  disconnect(client);
  for (const spi::ClaimId& id : behind) look(id);
}

void Neighbours::disconnect(ClientNumber client) {
  loop_.unwatch(neighbours_.at(client).connection.get());
  neighbours_.erase(client);
}

void Neighbours::look(spi::ClaimId id) {
  const auto found = waits_.find(id);
  if (found == waits_.end()) return;
  // The claim is forgotten: the answer to its question says for whom it waits now.
  const LockName name = std::move(found->second.name);
  const LockKind kind = found->second.kind;
  const std::vector<ClientNumber> ahead = std::move(found->second.ahead);
  waits_.erase(found);
  for (const ClientNumber client : ahead) forget_one(client, id);
  on_gone_(name, kind, id);
}

}  // namespace holdfast::sqlite
