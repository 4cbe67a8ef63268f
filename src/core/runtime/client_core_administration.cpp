// Operations for operators, in the names and kinds that users know.

#include <optional>
#include <utility>

#include "core/operations/parts.hpp"
#include "core/operations/revoke_steps.hpp"
#include "core/runtime/client_core.hpp"
#include "core/runtime/perform.hpp"
#include "spi/part_name.hpp"

namespace holdfast::core {

using base::Duration;

namespace {

/// Where the store keeps a thing of this kind: only locks and semaphores are the store's own.
LockName stored_name(const LockName& name, LockKind kind) {
  return kind == LockKind::election ? spi::PartName::of(name, election_part) : name;
}

LockKind stored_kind(LockKind kind) { return kind == LockKind::semaphore ? LockKind::semaphore : LockKind::lock; }

}  // namespace

template <class T, class Start>
spi::Result<T> ClientCore::administer(Effect effect, Start start) {
  return perform<T>(Duration::max(), {}, [&](Caller& caller) {
    return ask<T>(caller, Persistence::until_contact, effect,
                  [&](spi::Done<T> done) { start(engine_.backend().administration(), std::move(done)); });
  });
}

std::vector<LockStatus> ClientCore::list(std::string_view prefix) {
  using Locks = std::vector<LockStatus>;
  auto locks = value_or_throw(
      administer<Locks>(Effect::none, [&](auto& store, auto done) { store.list(prefix, std::move(done)); }),
      "listing the locks");
  std::erase_if(locks, [](LockStatus& lock) {
    const auto [name, part] = spi::PartName::split(lock.name);
    if (part.empty()) return false;
    if (part != election_part) return true;
    lock.kind = LockKind::election;
    lock.name = std::string(name);
    return false;
  });
  return locks;
}

std::optional<LockStatus> ClientCore::show(const LockName& name, LockKind kind) {
  const LockName stored = stored_name(name, kind);
  auto shown = perform<std::optional<LockStatus>>(Duration::max(), {}, [&](Caller& caller) {
    return core::show(caller, stored, stored_kind(kind), Persistence::until_contact);
  });
  auto lock = value_or_throw(std::move(shown), "looking at lock '" + name.text() + "'");
  if (lock) {
    lock->name = name.text();
    lock->kind = kind;
  }
  return lock;
}

std::size_t ClientCore::evict(const LockName& name, LockKind kind, std::uint64_t up_to) {
  auto evicted = perform<std::size_t>(Duration::max(), {}, [&](Caller& caller) {
    return core::evict(caller, stored_name(name, kind), stored_kind(kind), up_to);
  });
  return value_or_throw(std::move(evicted), "breaking lock '" + name.text() + "'");
}

std::size_t ClientCore::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request) {
  auto asked = perform<std::size_t>(Duration::max(), {}, [&](Caller& caller) {
    return core::ask_to_release(caller, stored_name(name, kind), stored_kind(kind), request);
  });
  return value_or_throw(std::move(asked), "asking for the release of lock '" + name.text() + "'");
}

Revoked ClientCore::revoke(const LockName& name, LockKind kind, const ReleaseRequest& request,
                           const std::stop_token& stop) {
  auto revoked = perform<Revoked>(Duration::max(), stop, [&](Caller& caller) {
    return core::revoke(caller, stored_name(name, kind), stored_kind(kind), request);
  });
  return value_or_throw(std::move(revoked), "revoking lock '" + name.text() + "'");
}

bool ClientCore::resize(const LockName& name, std::uint32_t total) {
  auto resized =
      administer<bool>(Effect::once, [&](auto& store, auto done) { store.resize(name, total, std::move(done)); });
  return value_or_throw(std::move(resized), "resizing semaphore '" + name.text() + "'");
}

}  // namespace holdfast::core
