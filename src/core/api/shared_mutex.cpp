#include "holdfast/shared_mutex.hpp"

#include <utility>

#include "core/api/client_lock.hpp"

namespace holdfast {

using core::ThreadHolds;

SharedMutex::SharedMutex(Client& client, const LockName& name, LockOptions options)
    : lock_(std::make_unique<core::ClientLock>(client, name, std::move(options))) {}

SharedMutex::~SharedMutex() = default;

// --- by thread ------------------------------------------------------------------------------------------------------

void SharedMutex::lock(std::stop_token stop) { lock_as(ClaimMode::exclusive, stop); }

void SharedMutex::lock_shared(std::stop_token stop) { lock_as(ClaimMode::shared, stop); }

void SharedMutex::lock_as(ClaimMode mode, const std::stop_token& stop) {
  if (const ThreadHolds::Entry* const entry = lock_->find_entry()) {
    const bool upgrade = mode == ClaimMode::exclusive && entry->hold.mode() == ClaimMode::shared;
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            upgrade ? "this thread holds lock '" + name().text() +
                                          "' as a reader and cannot become its writer; call unlock_shared() first"
                                    : "this thread already holds lock '" + name().text() + "'");
  }
  lock_->add_entry(lock_->acquire({mode}, stop));
}

bool SharedMutex::try_lock() { return try_lock_within(ClaimMode::exclusive, std::chrono::nanoseconds::zero(), {}); }

bool SharedMutex::try_lock_shared() { return try_lock_within(ClaimMode::shared, std::chrono::nanoseconds::zero(), {}); }

bool SharedMutex::try_lock_within(ClaimMode mode, std::chrono::nanoseconds wait, std::stop_token stop) {
  if (lock_->find_entry() != nullptr) return false;
  auto hold = lock_->try_acquire({mode}, wait, stop);
  if (!hold) return false;
  lock_->add_entry(std::move(*hold));
  return true;
}

void SharedMutex::unlock() noexcept { unlock_as(ClaimMode::exclusive); }

void SharedMutex::unlock_shared() noexcept { unlock_as(ClaimMode::shared); }

void SharedMutex::unlock_as(ClaimMode mode) noexcept {
  ThreadHolds::Entry* const entry = lock_->find_entry_to_unlock();
  if (entry == nullptr) return;
  if (entry->hold.mode() == mode) {
    ThreadHolds::mine().remove(*entry);
  } else {
    lock_->core().report(Errc::not_held,
                         mode == ClaimMode::shared
                             ? "unlock_shared() of lock '" + name().text() + "' by its writer; nothing was changed"
                             : "unlock() of lock '" + name().text() + "' by a reader; nothing was changed");
  }
}

void SharedMutex::downgrade() {
  ThreadHolds::Entry* const entry = lock_->find_entry();
  if (entry == nullptr) throw Error(Errc::not_held, "this thread does not hold lock '" + name().text() + "'");
  entry->hold.downgrade();
}

const Hold& SharedMutex::hold() const { return lock_->hold_of_this_thread(); }

// --- by handle ------------------------------------------------------------------------------------------------------

Hold SharedMutex::acquire(std::stop_token stop) { return lock_->acquire({}, stop); }

Hold SharedMutex::acquire_shared(std::stop_token stop) { return lock_->acquire({ClaimMode::shared}, stop); }

std::optional<Hold> SharedMutex::try_acquire() {
  return try_acquire_within(ClaimMode::exclusive, std::chrono::nanoseconds::zero(), {});
}

std::optional<Hold> SharedMutex::try_acquire_shared() {
  return try_acquire_within(ClaimMode::shared, std::chrono::nanoseconds::zero(), {});
}

std::optional<Hold> SharedMutex::try_acquire_within(ClaimMode mode, std::chrono::nanoseconds wait,
                                                    std::stop_token stop) {
  core::check_wait(name(), wait);
  return lock_->try_acquire({mode}, wait, stop);
}

void SharedMutex::async_acquire(AcquireCallback callback, std::stop_token stop) {
  lock_->async_acquire({}, base::Duration::max(), std::move(callback), std::move(stop));
}

void SharedMutex::async_acquire_shared(AcquireCallback callback, std::stop_token stop) {
  lock_->async_acquire({ClaimMode::shared}, base::Duration::max(), std::move(callback), std::move(stop));
}

const LockName& SharedMutex::name() const noexcept { return lock_->name(); }

}  // namespace holdfast
