#include "holdfast/recursive_mutex.hpp"

#include <string>
#include <utility>

#include "core/api/client_lock.hpp"

namespace holdfast {
namespace {

using core::ThreadHolds;

/// Goes one level deeper if this thread holds the lock.
bool reenter(const core::ClientLock& lock, const std::stop_token& stop) {
  ThreadHolds::Entry* const entry = ThreadHolds::mine().find(lock.cell().serial);
  if (entry == nullptr) return false;
  if (stop.stop_requested()) throw Error(Errc::cancelled, "lock '" + lock.name().text() + "': cancelled");
  if (!entry->hold.valid()) {
    lock.core().check_open();
    throw Error(Errc::lost, "lock '" + lock.name().text() + "' was lost; unlock it first");
  }
  if (entry->depth >= RecursiveMutex::max_depth) {
    throw Error(Errc::too_deep, "this thread has locked '" + lock.name().text() + "' " +
                                    std::to_string(RecursiveMutex::max_depth) + " times already, which is the limit");
  }
  ++entry->depth;
  return true;
}

}  // namespace

RecursiveMutex::RecursiveMutex(Client& client, const LockName& name, LockOptions options)
    : lock_(std::make_unique<core::ClientLock>(client, name, std::move(options))) {}

RecursiveMutex::~RecursiveMutex() = default;

void RecursiveMutex::lock(std::stop_token stop) {
  if (!reenter(*lock_, stop)) lock_->add_entry(lock_->acquire({}, stop));
}

bool RecursiveMutex::try_lock() { return try_lock_within(std::chrono::nanoseconds::zero(), {}); }

bool RecursiveMutex::try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  if (reenter(*lock_, stop)) return true;
  auto hold = lock_->try_acquire({}, wait, stop);
  if (!hold) return false;
  lock_->add_entry(std::move(*hold));
  return true;
}

void RecursiveMutex::unlock() noexcept {
  ThreadHolds::Entry* const entry = lock_->find_entry_to_unlock();
  if (entry != nullptr && --entry->depth == 0) ThreadHolds::mine().remove(*entry);
}

std::size_t RecursiveMutex::depth() const noexcept {
  const ThreadHolds::Entry* const entry = ThreadHolds::mine().find(lock_->cell().serial);
  return entry == nullptr ? 0 : entry->depth;
}

const Hold& RecursiveMutex::hold() const { return lock_->hold_of_this_thread(); }

const LockName& RecursiveMutex::name() const noexcept { return lock_->name(); }

}  // namespace holdfast
