#include "core/api/lockable.hpp"

#include <string>
#include <utility>

namespace holdfast::core {

void check(const LockOptions& options) {
  constexpr std::size_t max_reason_bytes = 1024;
  if (options.ttl < LockOptions::min_ttl || options.ttl > LockOptions::max_ttl) {
    throw Error(Errc::invalid_argument,
                "ttl must be between 20 ms and 30 days, got " + std::to_string(options.ttl.count()) + " ms");
  }
  if (options.max_hold < std::chrono::milliseconds::zero()) {
    throw Error(Errc::invalid_argument, "max_hold must not be negative; zero means no limit");
  }
  if (options.lock_delay < std::chrono::milliseconds::zero() || options.lock_delay > LockOptions::max_ttl) {
    throw Error(Errc::invalid_argument,
                "lock_delay must be between 0 and 30 days, got " + std::to_string(options.lock_delay.count()) + " ms");
  }
  if (options.reason.size() > max_reason_bytes) {
    throw Error(Errc::invalid_argument, "a reason has more than 1,024 bytes; shorten it");
  }
}

Patience patience_for(base::Duration wait) {
  if (wait > base::Duration::zero()) return {spi::WhenBusy::wait, wait};
  // A call that will not wait has no deadline either: the store answers, or the connection fails, soon.
  return {spi::WhenBusy::refuse, base::Duration::max()};
}

ClientCore::Wish wish_within(const LockOptions& options, base::Duration wait, const spi::Mode& mode) {
  const auto [when_busy, limit] = patience_for(wait);
  return {.options = options, .mode = mode, .when_busy = when_busy, .wait = limit};
}

void check_wait(const LockName& name, base::Duration wait) {
  if (wait >= base::Duration::zero()) return;
  throw Error(Errc::invalid_argument, "a wait for '" + name.text() + "' must not be negative; zero tries once");
}

std::optional<Hold> try_acquire(const CellHandle& handle, const ClientCore::Wish& wish, const std::stop_token& stop) {
  auto answer = handle.core().acquire(handle.cell(), wish, stop);
  if (answer.ok()) return std::move(answer.value());
  const auto& [code, detail] = answer.failure();
  if (code == Errc::busy || code == Errc::timed_out) return std::nullopt;
  throw Error(code, detail);
}

Hold acquire(const CellHandle& handle, const ClientCore::Wish& wish, const std::stop_token& stop) {
  auto answer = handle.core().acquire(handle.cell(), wish, stop);
  if (!answer.ok()) throw Error(answer.failure().code, answer.failure().detail);
  return std::move(answer.value());
}

ThreadHolds::Entry* entry_of_this_thread(const CellHandle& handle) {
  ThreadHolds::Entry* const entry = ThreadHolds::mine().find(handle.cell().serial);
  if (entry != nullptr && !entry->hold.valid()) handle.core().check_open();
  return entry;
}

ThreadHolds::Entry* entry_to_unlock(const CellHandle& handle) noexcept {
  ThreadHolds::Entry* const entry = ThreadHolds::mine().find(handle.cell().serial);
  if (entry == nullptr && !handle.core().forked()) {
    handle.core().report(Errc::not_held, "unlock() of lock '" + handle.name().text() +
                                             "' by a thread that does not hold it; nothing was changed");
  }
  return entry;
}

const Hold& hold_of_this_thread(const CellHandle& handle) {
  const ThreadHolds::Entry* const entry = ThreadHolds::mine().find(handle.cell().serial);
  if (entry == nullptr) throw Error(Errc::not_held, "this thread does not hold lock '" + handle.name().text() + "'");
  return entry->hold;
}

}  // namespace holdfast::core
