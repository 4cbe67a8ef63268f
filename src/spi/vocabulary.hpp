#pragma once

#include "base/callback.hpp"
#include "base/instant.hpp"

namespace holdfast::spi {

// What the interface is made of.
using base::Callback;
using base::Duration;
using base::end_of;
using base::Instant;
using base::saturating_add;
using base::Task;

/// No request to a store stays unanswered for longer: then the backend fails it (Errc::in_doubt).
constexpr Duration longest_patience = std::chrono::seconds(1);

}  // namespace holdfast::spi
