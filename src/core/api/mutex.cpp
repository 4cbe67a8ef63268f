#include "holdfast/mutex.hpp"

#include <utility>

#include "core/api/client_lock.hpp"

namespace holdfast {

using core::ThreadHolds;

Mutex::Mutex(Client& client, const LockName& name, LockOptions options)
    : lock_(std::make_unique<core::ClientLock>(client, name, std::move(options))) {}

Mutex::~Mutex() = default;

void Mutex::lock(std::stop_token stop) {
  if (lock_->find_entry() != nullptr) {
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "this thread already holds lock '" + name().text() + "'");
  }
  lock_->add_entry(lock_->acquire({}, stop));
}

bool Mutex::try_lock() { return try_lock_within(std::chrono::nanoseconds::zero(), {}); }

bool Mutex::try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  const bool mine_already = lock_->find_entry() != nullptr;
  if (mine_already && wait <= std::chrono::nanoseconds::zero()) return false;
  auto hold = lock_->try_acquire({}, wait, stop);
  if (!hold) return false;
  lock_->add_entry(std::move(*hold));
  return true;
}

void Mutex::unlock() noexcept {
  if (ThreadHolds::Entry* const entry = lock_->find_entry_to_unlock()) ThreadHolds::mine().remove(*entry);
}

const Hold& Mutex::hold() const { return lock_->hold_of_this_thread(); }

Hold Mutex::acquire(std::stop_token stop) { return lock_->acquire({}, stop); }

std::optional<Hold> Mutex::try_acquire() { return try_acquire_within(std::chrono::nanoseconds::zero(), {}); }

std::optional<Hold> Mutex::try_acquire_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  core::check_wait(name(), wait);
  return lock_->try_acquire({}, wait, stop);
}

void Mutex::async_acquire(AcquireCallback callback, std::stop_token stop) {
  lock_->async_acquire({}, base::Duration::max(), std::move(callback), std::move(stop));
}

void Mutex::async_try_acquire_within(std::chrono::nanoseconds wait, AcquireCallback callback, std::stop_token stop) {
  core::check_wait(name(), wait);
  lock_->async_acquire({}, wait, std::move(callback), std::move(stop));
}

const LockName& Mutex::name() const noexcept { return lock_->name(); }

}  // namespace holdfast
