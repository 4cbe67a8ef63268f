#pragma once

#include <cstdint>
#include <optional>

#include "spi/claims.hpp"
#include "spi/registers.hpp"
#include "spi/result.hpp"

/// Checks and messages that all stores share.
namespace holdfast::kit {

/// Errc::invalid_argument if a request makes no sense.
std::optional<spi::Failure> why_invalid(const spi::ClaimRequest& request);

/// Errc::invalid_argument: the name's permits come in another total than the request wants.
spi::Failure different_total(const spi::ClaimRequest& request, std::uint32_t total);

/// Errc::invalid_argument if a semaphore cannot have so many permits.
std::optional<spi::Failure> why_invalid_total(const LockName& name, std::uint32_t total);

/// Errc::invalid_argument: only locks have a shared mode.
spi::Failure cannot_downgrade_permits(const LockName& name);

/// Errc::invalid_argument if a register cannot hold so much.
std::optional<spi::Failure> why_too_large(std::size_t bytes, std::size_t max_bytes);

/// Errc::invalid_argument: what a register holds is not a number that can be added to, or the sum is too large.
spi::Failure not_a_number();
spi::Failure sum_does_not_fit();

/// What a register holds after adding to it. Errc::invalid_argument if it is not a number or the sum does not fit.
spi::Result<std::int64_t> sum_of(const spi::Versioned& now, std::int64_t amount);

}  // namespace holdfast::kit
