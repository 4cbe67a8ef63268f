#pragma once

#include "backends/etcd/address.hpp"
#include "backends/etcd/wire.hpp"
#include "spi/result.hpp"

namespace holdfast::etcd {

/// Whether a call may change something. If it may, a lost answer leaves it in doubt.
enum class Effect { none, some };

/// What a failed call means for the core. Never repeats what was sent.
spi::Failure explain(const CallStatus& status, Effect effect, const Address& address);

/// The server does not know our token any more: log in again and repeat the call.
bool wants_a_new_token(const CallStatus& status);
/// The server refused the call because of what it contains. Nothing has happened.
bool is_complaint(const CallStatus& status);
/// The transaction puts a key under a lease that does not exist any more. Nothing has happened.
bool is_lost_lease(const CallStatus& status);
/// The client gave the call up before there was a connection.
bool was_given_up(const CallStatus& status);
/// Another server may be able to execute the call.
bool is_trouble_of_one_server(const CallStatus& status);

spi::Failure not_understood(const Address& address);
spi::Failure is_closed();

}  // namespace holdfast::etcd
