#include "holdfast/mutex.hpp"

#include <utility>

#include "core/api/lockable.hpp"

namespace holdfast {

using core::ThreadHolds;

Mutex::Mutex(Client& client, const LockName& name, LockOptions options) : options_(std::move(options)) {
  core::check(options_);
  cell_ = std::make_unique<core::CellHandle>(client, name);
}

Mutex::~Mutex() = default;

void Mutex::lock(std::stop_token stop) {
  if (core::entry_of_this_thread(*cell_) != nullptr) {
    throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                            "this thread holds lock '" + name().text() + "' already");
  }
  ThreadHolds::mine().add(cell_->cell().serial, core::acquire(*cell_, {options_}, stop));
}

bool Mutex::try_lock() { return try_lock_within(std::chrono::nanoseconds::zero(), {}); }

bool Mutex::try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  const bool mine_already = core::entry_of_this_thread(*cell_) != nullptr;
  if (mine_already && wait <= std::chrono::nanoseconds::zero()) return false;
  auto hold = core::try_acquire(*cell_, core::wish_within(options_, wait), stop);
  if (!hold) return false;
  ThreadHolds::mine().add(cell_->cell().serial, std::move(*hold));
  return true;
}

void Mutex::unlock() noexcept {
  if (ThreadHolds::Entry* const entry = core::entry_to_unlock(*cell_)) ThreadHolds::mine().take(*entry);
}

const Hold& Mutex::hold() const { return core::hold_of_this_thread(*cell_); }

Hold Mutex::acquire(std::stop_token stop) { return core::acquire(*cell_, {options_}, stop); }

std::optional<Hold> Mutex::try_acquire() { return try_acquire_within(std::chrono::nanoseconds::zero(), {}); }

std::optional<Hold> Mutex::try_acquire_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  core::check_wait(name(), wait);
  return core::try_acquire(*cell_, core::wish_within(options_, wait), stop);
}

void Mutex::async_acquire(AcquireCallback callback, std::stop_token stop) {
  cell_->core().async_acquire(cell_->cell(), {options_}, std::move(callback), std::move(stop));
}

void Mutex::async_try_acquire_within(std::chrono::nanoseconds wait, AcquireCallback callback, std::stop_token stop) {
  core::check_wait(name(), wait);
  cell_->core().async_acquire(cell_->cell(), core::wish_within(options_, wait), std::move(callback), std::move(stop));
}

const LockName& Mutex::name() const noexcept { return cell_->name(); }

}  // namespace holdfast
