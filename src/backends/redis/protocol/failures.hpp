#pragma once

#include <string_view>

#include "spi/result.hpp"

namespace holdfast::redis {

/// What the server's complaint means for somebody who wants a lock, and what to do about it. Nothing happened in any of
/// these cases: a script that fails does so before it writes. `server` is how messages name the server.
spi::Failure explain(std::string_view complaint, std::string_view server);

/// The same for the answer to AUTH and SELECT, whose text may repeat what was sent and so is never shown.
spi::Failure explain_greeting(std::string_view complaint, std::string_view server);

/// The server forgot a script.
bool is_forgotten_script(std::string_view complaint);

/// A script answered in another way than it does.
spi::Failure not_understood(std::string_view server);

}  // namespace holdfast::redis
