#pragma once

#include "core/engine/caller.hpp"
#include "core/operations/operation.hpp"
#include "holdfast/client.hpp"
#include "holdfast/name.hpp"

/// What Client::revoke() does in the store.
namespace holdfast::core {

/// Asks the holders to release, waits until they have or their time is over, then evicts those that are left.
Operation<Revoked> revoke(Caller& caller, LockName name, LockKind kind, ReleaseRequest request);

}  // namespace holdfast::core
