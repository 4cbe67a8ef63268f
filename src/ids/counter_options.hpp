#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "holdfast/client.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "ids/counter.hpp"

namespace holdfast::ids {

/// The register of a kind of counters. Kinds have registers of their own, because their values mean different things.
LockName register_of(std::string_view kind, const LockName& name);

/// Throws Errc::unsupported if the store may lose what it has acknowledged, or has no registers.
void check_store(const Client& client, std::string_view kind, const LockName& name, bool require_durable);

/// Throws Errc::invalid_argument if the options make no sense.
std::shared_ptr<Counter> make_counter(std::string_view kind, const LockName& name, const CounterOptions& options);

/// Throws Errc::invalid_argument unless the count is at least 1 and fits.
std::int64_t checked_count(std::size_t count, const Counter& counter);

}  // namespace holdfast::ids
