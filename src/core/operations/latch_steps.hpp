#pragma once

#include <cstdint>

#include "core/engine/caller.hpp"
#include "core/operations/operation.hpp"
#include "holdfast/name.hpp"

/// What a Latch does in the store.
namespace holdfast::core {

Operation<std::uint32_t> count_missing(Caller& caller, LockName name, std::uint32_t count);
/// How many are missing afterwards.
Operation<std::uint32_t> count_down(Caller& caller, LockName name, std::uint32_t count, std::uint32_t by);
Operation<spi::Nothing> wait_until_open(Caller& caller, LockName name, std::uint32_t count);

}  // namespace holdfast::core
