#pragma once

#include <optional>

#include "core/api/cell_handle.hpp"
#include "core/runtime/thread_holds.hpp"

namespace holdfast::core {

/// What all lock types share: from an answer to a Hold, an empty result, or an exception.

/// A wish that has so much time: none at all, or a negative one, tries once.
ClientCore::Wish wish_within(const LockOptions& options, base::Duration wait, const spi::Mode& mode = {});

/// What that means for an operation: whether it waits, and for how long.
struct Patience {
  spi::WhenBusy when_busy;
  base::Duration limit;
};
Patience patience_for(base::Duration wait);

/// Throws Errc::invalid_argument if a wait is negative.
void check_wait(const LockName& name, base::Duration wait);

/// Empty if busy or timed out; throws for everything else.
std::optional<Hold> try_acquire(const CellHandle& handle, const ClientCore::Wish& wish, const std::stop_token& stop);

/// Waits as long as it takes; throws if it cannot be had.
Hold acquire(const CellHandle& handle, const ClientCore::Wish& wish, const std::stop_token& stop);

/// Whether this thread holds the lock. Throws Errc::closed or Errc::forked if it does and the client is gone.
ThreadHolds::Entry* entry_of_this_thread(const CellHandle& handle);

/// This thread's entry for the lock; reports to the error hook if there is none.
ThreadHolds::Entry* entry_to_unlock(const CellHandle& handle) noexcept;

/// This thread's hold; throws Errc::not_held if it has none.
const Hold& hold_of_this_thread(const CellHandle& handle);

}  // namespace holdfast::core
