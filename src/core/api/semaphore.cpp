#include "holdfast/semaphore.hpp"

#include <string>
#include <utility>

#include "core/api/client_lock.hpp"

namespace holdfast {
namespace {

std::uint32_t checked_total(const LockName& name, std::uint32_t total) {
  if (total >= 1 && total <= Semaphore::max_total) return total;
  throw Error(Errc::invalid_argument, "semaphore '" + name.text() + "' must have between 1 and " +
                                          std::to_string(Semaphore::max_total) + " permits, got " +
                                          std::to_string(total));
}

spi::Mode mode_of(const LockName& name, std::uint32_t permits, std::uint32_t total) {
  if (permits >= 1 && permits <= total) return {ClaimMode::permits, permits, total};
  throw Error(Errc::invalid_argument, "semaphore '" + name.text() + "' has " + std::to_string(total) + " permits; " +
                                          std::to_string(permits) + " of them cannot be acquired");
}

}  // namespace

Semaphore::Semaphore(Client& client, const LockName& name, std::uint32_t total, LockOptions options)
    : lock_(std::make_unique<core::ClientLock>(client, name, std::move(options), LockKind::semaphore)),
      total_(checked_total(name, total)) {}

Semaphore::~Semaphore() = default;

Hold Semaphore::acquire(std::uint32_t permits, std::stop_token stop) {
  return lock_->acquire(mode_of(name(), permits, total_), stop);
}

std::optional<Hold> Semaphore::try_acquire(std::uint32_t permits) {
  return try_acquire_within(permits, std::chrono::nanoseconds::zero(), {});
}

std::optional<Hold> Semaphore::try_acquire_within(std::uint32_t permits, std::chrono::nanoseconds wait,
                                                  std::stop_token stop) {
  core::check_wait(name(), wait);
  return lock_->try_acquire(mode_of(name(), permits, total_), wait, stop);
}

void Semaphore::async_acquire(std::uint32_t permits, AcquireCallback callback, std::stop_token stop) {
  lock_->async_acquire(mode_of(name(), permits, total_), base::Duration::max(), std::move(callback), std::move(stop));
}

void Semaphore::resize(std::uint32_t total) {
  checked_total(name(), total);
  lock_->core().resize(name(), total);
  total_ = total;
}

const LockName& Semaphore::name() const noexcept { return lock_->name(); }

}  // namespace holdfast
