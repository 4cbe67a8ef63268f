#include "core/lockable.hpp"

#include <string>
#include <utility>

namespace holdfast::core {

void check(const LockOptions& options) {
  constexpr std::size_t max_reason_bytes = 1024;
  if (options.ttl < LockOptions::min_ttl || options.ttl > LockOptions::max_ttl) {
    throw Error(Errc::invalid_argument, "a ttl of " + std::to_string(options.ttl.count()) +
                                            " ms is not possible; choose one from 20 ms to 30 days");
  }
  if (options.max_hold < std::chrono::milliseconds::zero()) {
    throw Error(Errc::invalid_argument, "max_hold must not be negative; zero means no limit");
  }
  if (options.reason.size() > max_reason_bytes) {
    throw Error(Errc::invalid_argument, "a reason has more than 1,024 bytes; shorten it");
  }
}

std::optional<Hold> try_acquire(const CellHandle& handle, const LockOptions& options, spi::Duration wait,
                                const std::stop_token& stop) {
  const auto when_busy = wait > spi::Duration::zero() ? spi::WhenBusy::wait : spi::WhenBusy::refuse;
  // A call that will not wait has no deadline either: the store answers, or the connection fails, soon.
  const auto limit = when_busy == spi::WhenBusy::wait ? wait : spi::Duration::max();
  auto answer = handle.core().acquire(handle.cell(), options, when_busy, limit, stop);
  if (answer.ok()) return std::move(answer.value());
  const auto& [code, detail] = answer.failure();
  if (code == Errc::busy || code == Errc::timed_out) return std::nullopt;
  throw Error(code, detail);
}

Hold acquire(const CellHandle& handle, const LockOptions& options, const std::stop_token& stop) {
  auto answer = handle.core().acquire(handle.cell(), options, spi::WhenBusy::wait, spi::Duration::max(), stop);
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
