#pragma once

#include "backends/redis/protocol/script.hpp"

/// What is done to a line of claims (queue_line.hpp), in one script for each step of spi::Claims. Their source says
/// what they take and what they answer.
namespace holdfast::redis {

/// Acquire and release.
const Script& claim_script();
const Script& renew_script();
const Script& downgrade_script();

}  // namespace holdfast::redis
