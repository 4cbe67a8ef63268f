#pragma once

#include "spi/backend.hpp"

namespace holdfast::redis {

/// `redis://host`, `rediss://host`, `redis+unix:/path.sock`: one Redis server (address.hpp has the whole form).
const spi::BackendFactory& factory();

}  // namespace holdfast::redis
