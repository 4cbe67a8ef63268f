#pragma once

#include <cstdint>

#include "core/engine/caller.hpp"
#include "core/operations/operation.hpp"
#include "holdfast/name.hpp"
#include "holdfast/options.hpp"

/// What a Barrier does in the store.
namespace holdfast::core {

/// The phase that is complete then, counting from 1.
Operation<std::uint64_t> arrive_and_wait(Caller& caller, LockName name, std::uint32_t parties, LockOptions options);

}  // namespace holdfast::core
