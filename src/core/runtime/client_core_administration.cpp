// What people on call ask the store, in the names and kinds that users know.

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "core/operations/parts.hpp"
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
  const LockName stored = stored_name(name, kind);
  auto evicted = administer<std::size_t>(
      Effect::once, [&](auto& store, auto done) { store.evict(stored, stored_kind(kind), up_to, std::move(done)); });
  return value_or_throw(std::move(evicted), "breaking lock '" + name.text() + "'");
}

std::size_t ClientCore::ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request) {
  constexpr std::chrono::hours for_ever(24 * 365 * 100);  // stores add it to their time of day
  const LockName stored = stored_name(name, kind);
  const ReleaseRequest bounded = {request.reason, std::min<std::chrono::milliseconds>(request.within, for_ever)};
  auto asked = administer<std::size_t>(Effect::once, [&](auto& store, auto done) {
    store.ask_to_release(stored, stored_kind(kind), bounded, std::move(done));
  });
  return value_or_throw(std::move(asked), "asking for the release of lock '" + name.text() + "'");
}

bool ClientCore::resize(const LockName& name, std::uint32_t total) {
  auto resized =
      administer<bool>(Effect::once, [&](auto& store, auto done) { store.resize(name, total, std::move(done)); });
  return value_or_throw(std::move(resized), "resizing semaphore '" + name.text() + "'");
}

}  // namespace holdfast::core
