#include "core/operations/revoke_steps.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/operations/store_requests.hpp"

namespace holdfast::core {
namespace {

using Shown = std::optional<LockStatus>;

constexpr base::Duration first_pause = std::chrono::milliseconds(5);
constexpr base::Duration longest_pause = std::chrono::milliseconds(100);

/// Whether somebody holds it who held it when the number was `number`: later holders have larger ones.
bool still_held(const Shown& lock, std::uint64_t number) {
  return lock && std::ranges::any_of(lock->holders, [&](const ClaimStatus& holder) { return holder.number <= number; });
}

}  // namespace

Operation<Revoked> revoke(Caller& caller, LockName name, LockKind kind, ReleaseRequest request) {
  const spi::Result<Shown> before = co_await show(caller, name, kind, Persistence::until_contact);
  if (!before.ok()) co_return before.failure();
  if (!before.value() || before.value()->holders.empty()) co_return Revoked::not_held;
  const std::uint64_t number = before.value()->number;
  const spi::Result<std::size_t> asked = co_await ask_to_release(caller, name, kind, request);
  if (!asked.ok()) co_return asked.failure();
  if (asked.value() == 0) co_return Revoked::let_go;

  const spi::Loop& loop = caller.engine().loop();
  const base::Instant deadline = base::end_of(request.within, loop.now());
  base::Duration pause = first_pause;
  for (;;) {
    const spi::Result<Shown> current = co_await show(caller, name, kind, Persistence::until_contact);
    if (!current.ok()) co_return current.failure();
    if (!still_held(current.value(), number)) co_return Revoked::let_go;
    if (loop.now() >= deadline) break;
    co_await caller.nap_until(std::min(deadline, base::saturating_add(loop.now(), pause)));
    if (auto why = caller.why_end()) co_return *why;
    pause = std::min(pause * 2, longest_pause);
  }
  const spi::Result<std::size_t> evicted = co_await evict(caller, name, kind, number);
  if (!evicted.ok()) co_return evicted.failure();
  co_return evicted.value() > 0 ? Revoked::evicted : Revoked::let_go;
}

}  // namespace holdfast::core
