#pragma once

#include <string_view>

#include "backends/redis/protocol/command.hpp"
#include "backends/redis/protocol/reply.hpp"
#include "backends/redis/protocol/script.hpp"
#include "base/callback.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// One command, the key that it is about, and who wants the reply.
struct Request {
  /// Whether it may be executed after a later request about the same key.
  enum class Order { any, kept };
  /// The reply is no error, and good during the call only.
  using OnReply = base::Callback<void(spi::Result<Reply*>)>;

  Command command = {};
  const Script* script = nullptr;  ///< then the command has the script's keys and arguments
  /// It goes to the server that has this key. Empty: any server can answer it. Good during the call of send() only.
  std::string_view key = {};
  Order order = Order::any;
  base::Duration patience = spi::longest_patience;
  OnReply on_reply = {};
};

}  // namespace holdfast::redis
