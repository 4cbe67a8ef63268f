#pragma once

#include "backends/zookeeper/address.hpp"
#include "backends/zookeeper/reply.hpp"
#include "spi/claims.hpp"
#include "spi/result.hpp"

namespace holdfast::zookeeper {

/// What a reply that is not ok means for whoever made the request, and what to do about it. `doubtful`: the request may
/// have changed something.
spi::Failure explain(const Reply& reply, const Address& address, bool doubtful);

/// The lease that is wanted is longer than the session's timeout.
spi::Failure too_long(const Address& address, spi::milliseconds wanted, spi::milliseconds granted);

/// The chroot of the URL does not exist.
spi::Failure no_chroot(const Address& address);

}  // namespace holdfast::zookeeper
