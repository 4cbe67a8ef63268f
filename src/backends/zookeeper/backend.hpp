#pragma once

#include "spi/backend.hpp"

namespace holdfast::zookeeper {

/// `zookeeper://h1,h2,h3/chroot`: an ensemble of ZooKeeper servers (address.hpp has the whole form).
const spi::BackendFactory& factory();

}  // namespace holdfast::zookeeper
