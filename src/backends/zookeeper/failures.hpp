#pragma once

#include "backends/zookeeper/address.hpp"
#include "backends/zookeeper/reply.hpp"
#include "spi/claims.hpp"
#include "spi/result.hpp"

namespace holdfast::zookeeper {

/// What a reply that is not ok means for somebody who wants a lock, and what to do about it. `doubtful`: something was
/// sent that changes something.
spi::Failure explain(const Reply& reply, const Address& address, bool doubtful);

/// A lease is longer than the session that it would have to be.
spi::Failure too_long(const Address& address, spi::milliseconds wanted, spi::milliseconds granted);

/// The chroot of the URL is not there.
spi::Failure no_chroot(const Address& address);

}  // namespace holdfast::zookeeper
