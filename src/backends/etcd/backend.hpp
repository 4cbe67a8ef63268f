#pragma once

#include "spi/backend.hpp"

namespace holdfast::etcd {

/// `etcd://host,host,host` and `etcds://host`: a cluster of etcd servers of version 3.4 or newer. address.hpp describes
/// the URL.
const spi::BackendFactory& factory();

}  // namespace holdfast::etcd
