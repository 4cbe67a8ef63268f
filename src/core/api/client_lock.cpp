#include "core/api/client_lock.hpp"

#include <string>
#include <utility>

namespace holdfast::core {
namespace {

LockOptions checked(LockOptions options) {
  check(options);
  return options;
}

}  // namespace

void check(const LockOptions& options) {
  constexpr std::size_t max_reason_bytes = 1'024;
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
    throw Error(Errc::invalid_argument,
                "reason must be at most 1,024 bytes, got " + std::to_string(options.reason.size()));
  }
}

Patience patience_for(base::Duration wait) {
  if (wait > base::Duration::zero()) return {spi::WhenBusy::wait, wait};
  // A call that will not wait has no deadline either: the store answers, or the connection fails, soon.
  return {spi::WhenBusy::refuse, base::Duration::max()};
}

void check_wait(const LockName& name, base::Duration wait) {
  if (wait >= base::Duration::zero()) return;
  throw Error(Errc::invalid_argument,
              "the time to wait for '" + name.text() + "' must not be negative; zero tries once");
}

ClientLock::ClientLock(const Client& client, const LockName& name, LockOptions options, LockKind kind)
    : options_(checked(std::move(options))), core_(ClientCore::of(client)), cell_(core_->keep_cell(name, kind)) {}

Hold ClientLock::acquire(const spi::Mode& mode, const std::stop_token& stop) const {
  auto answer = core_->acquire(cell_, {.options = options_, .mode = mode}, stop);
  if (!answer.ok()) throw Error(answer.failure().code, answer.failure().detail);
  return std::move(answer.value());
}

std::optional<Hold> ClientLock::try_acquire(const spi::Mode& mode, base::Duration wait,
                                            const std::stop_token& stop) const {
  const auto [when_busy, limit] = patience_for(wait);
  auto answer = core_->acquire(cell_, {.options = options_, .mode = mode, .when_busy = when_busy, .wait = limit}, stop);
  if (answer.ok()) return std::move(answer.value());
  const auto& [code, detail] = answer.failure();
  if (code == Errc::busy || code == Errc::timed_out) return std::nullopt;
  throw Error(code, detail);
}

void ClientLock::async_acquire(const spi::Mode& mode, base::Duration wait, AcquireCallback callback,
                               std::stop_token stop) const {
  const auto [when_busy, limit] = patience_for(wait);
  core_->async_acquire(cell_, {.options = options_, .mode = mode, .when_busy = when_busy, .wait = limit},
                       std::move(callback), std::move(stop));
}

ThreadHolds::Entry* ClientLock::find_entry() const {
  ThreadHolds::Entry* const entry = ThreadHolds::mine().find(cell_.serial);
  if (entry != nullptr && !entry->hold.valid()) core_->check_open();
  return entry;
}

ThreadHolds::Entry* ClientLock::find_entry_to_unlock() const noexcept {
  ThreadHolds::Entry* const entry = ThreadHolds::mine().find(cell_.serial);
  if (entry == nullptr && !core_->forked()) {
    core_->report(Errc::not_held,
                  "unlock() of lock '" + name().text() + "' by a thread that does not hold it; nothing was changed");
  }
  return entry;
}

const Hold& ClientLock::hold_of_this_thread() const {
  const ThreadHolds::Entry* const entry = ThreadHolds::mine().find(cell_.serial);
  if (entry == nullptr) throw Error(Errc::not_held, "this thread does not hold lock '" + name().text() + "'");
  return entry->hold;
}

}  // namespace holdfast::core
