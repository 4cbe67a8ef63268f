#pragma once

#include "spi/backend.hpp"

namespace holdfast::etcd {

/// `etcd://host,host,host`, `etcds://host`: a cluster of etcd servers, version 3.4 or newer (address.hpp has the whole
/// form).
const spi::BackendFactory& factory();

}  // namespace holdfast::etcd
