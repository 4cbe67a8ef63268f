#pragma once

#include <string_view>

#include "spi/result.hpp"

namespace holdfast::redis {

/// What an error reply of the server means for somebody who wants a lock, and what to do about it. The request did not
/// happen: a script that fails does so before it writes. `server` is how messages name the server.
spi::Failure explain(std::string_view complaint, std::string_view server);

/// The same for the answer to AUTH and SELECT, whose text may repeat what was sent and so is never shown.
spi::Failure explain_greeting(std::string_view complaint, std::string_view server);

/// Whether the server does not know the digest of a script (any more).
bool is_forgotten_script(std::string_view complaint);

/// For a reply that no script of ours gives.
spi::Failure not_understood(std::string_view server);

}  // namespace holdfast::redis
