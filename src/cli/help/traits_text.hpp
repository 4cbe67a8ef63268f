#pragma once

#include <chrono>
#include <string>

#include "holdfast/status.hpp"

namespace holdfast::cli {

/// The shortest lease that the store gives, with the usual settings of its servers.
std::chrono::milliseconds shortest_ttl(const StoreTraits& traits);

/// What a store promises, in words: one aligned line for each of its traits. Printable.
std::string in_words(const StoreTraits& traits);

}  // namespace holdfast::cli
