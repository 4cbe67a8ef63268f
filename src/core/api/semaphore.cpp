#include "holdfast/semaphore.hpp"

#include <string>
#include <utility>

#include "core/api/lockable.hpp"

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
    : options_(std::move(options)), total_(checked_total(name, total)) {
  core::check(options_);
  cell_ = std::make_unique<core::CellHandle>(client, name, LockKind::semaphore);
}

Semaphore::~Semaphore() = default;

Hold Semaphore::acquire(std::uint32_t permits, std::stop_token stop) {
  return core::acquire(*cell_, {options_, mode_of(name(), permits, total_)}, stop);
}

std::optional<Hold> Semaphore::try_acquire(std::uint32_t permits) {
  return try_acquire_within(permits, std::chrono::nanoseconds::zero(), {});
}

std::optional<Hold> Semaphore::try_acquire_within(std::uint32_t permits, std::chrono::nanoseconds wait,
                                                  std::stop_token stop) {
  core::check_wait(name(), wait);
  const spi::Mode mode = mode_of(name(), permits, total_);
  return core::try_acquire(*cell_, core::wish_within(options_, wait, mode), stop);
}

void Semaphore::async_acquire(std::uint32_t permits, AcquireCallback callback, std::stop_token stop) {
  const spi::Mode mode = mode_of(name(), permits, total_);
  cell_->core().async_acquire(cell_->cell(), {options_, mode}, std::move(callback), std::move(stop));
}

void Semaphore::resize(std::uint32_t total) {
  checked_total(name(), total);
  cell_->core().resize(name(), total);
  total_ = total;
}

const LockName& Semaphore::name() const noexcept { return cell_->name(); }

}  // namespace holdfast
