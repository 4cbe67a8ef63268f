#pragma once

#include "backends/zookeeper/address.hpp"
#include "backends/zookeeper/reply.hpp"
#include "spi/result.hpp"

namespace holdfast::zookeeper {

/// What a reply that is not ok means for somebody who wants a lock, and what to do about it. `doubtful`: something was
/// sent that changes something.
spi::Failure explain(const Reply& reply, const Address& address, bool doubtful);

/// The chroot of the URL is not there.
spi::Failure no_chroot(const Address& address);

}  // namespace holdfast::zookeeper
