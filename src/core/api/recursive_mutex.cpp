#include "holdfast/recursive_mutex.hpp"

#include <string>
#include <utility>

#include "core/api/lockable.hpp"

namespace holdfast {
namespace {

using core::ThreadHolds;

/// Goes one level deeper if this thread holds the lock.
bool reenter(const core::CellHandle& handle, const std::stop_token& stop) {
  ThreadHolds::Entry* const entry = ThreadHolds::mine().find(handle.cell().serial);
  if (entry == nullptr) return false;
  if (stop.stop_requested()) throw Error(Errc::cancelled, "lock '" + handle.name().text() + "': cancelled");
  if (!entry->hold.valid()) {
    handle.core().check_open();
    throw Error(Errc::lost, "lock '" + handle.name().text() + "' was lost; unlock it first");
  }
  if (entry->depth >= RecursiveMutex::max_depth) {
    throw Error(Errc::too_deep, "lock '" + handle.name().text() + "' is locked " +
                                    std::to_string(RecursiveMutex::max_depth) + " times by this thread already");
  }
  ++entry->depth;
  return true;
}

}  // namespace

RecursiveMutex::RecursiveMutex(Client& client, const LockName& name, LockOptions options)
    : options_(std::move(options)) {
  core::check(options_);
  cell_ = std::make_unique<core::CellHandle>(client, name);
}

RecursiveMutex::~RecursiveMutex() = default;

void RecursiveMutex::lock(std::stop_token stop) {
  if (!reenter(*cell_, stop)) ThreadHolds::mine().add(cell_->cell().serial, core::acquire(*cell_, {options_}, stop));
}

bool RecursiveMutex::try_lock() { return try_lock_within(std::chrono::nanoseconds::zero(), {}); }

bool RecursiveMutex::try_lock_within(std::chrono::nanoseconds wait, std::stop_token stop) {
  if (reenter(*cell_, stop)) return true;
  auto hold = core::try_acquire(*cell_, core::wish_within(options_, wait), stop);
  if (!hold) return false;
  ThreadHolds::mine().add(cell_->cell().serial, std::move(*hold));
  return true;
}

void RecursiveMutex::unlock() noexcept {
  ThreadHolds::Entry* const entry = core::entry_to_unlock(*cell_);
  if (entry != nullptr && --entry->depth == 0) ThreadHolds::mine().take(*entry);
}

std::size_t RecursiveMutex::depth() const noexcept {
  const ThreadHolds::Entry* const entry = ThreadHolds::mine().find(cell_->cell().serial);
  return entry == nullptr ? 0 : entry->depth;
}

const Hold& RecursiveMutex::hold() const { return core::hold_of_this_thread(*cell_); }

const LockName& RecursiveMutex::name() const noexcept { return cell_->name(); }

}  // namespace holdfast
