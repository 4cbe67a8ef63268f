#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/engine/caller.hpp"
#include "core/operations/operation.hpp"
#include "holdfast/election.hpp"

/// What an Election does in the store: leading is a lock, and what the leaders say stands in a register.
namespace holdfast::core {

/// How many publications the store remembers, for observers that look rarely.
constexpr std::size_t remembered_publications = 16;

/// Waits until it leads and has published `value`.
Operation<std::shared_ptr<HoldRecord>> campaign(Caller& caller, LockName name, std::string value, LockOptions options,
                                                spi::WhenBusy when_busy);
/// Publishes in the name of a leadership, for as long as it lasts; Errc::lost then.
Operation<spi::Nothing> publish(Caller& caller, LockName name, std::shared_ptr<HoldRecord> leadership,
                                std::string value);
Operation<std::optional<Leader>> current_leader(Caller& caller, LockName name);
/// Tells who leads, then each new publication, until the caller is interrupted.
Operation<spi::Nothing> observe(Caller& caller, LockName name, base::Callback<void(Leader)> heard);

}  // namespace holdfast::core
