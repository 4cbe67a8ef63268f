#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/redis/connection/channels.hpp"
#include "backends/redis/connection/request.hpp"
#include "base/callback.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// The servers of one store: which of them has a key, and the connections to them. A layout sends each request with the
/// key that it is about, and knows nothing else of servers. single_server.hpp is the first of them; one that follows a
/// failover or knows a cluster's slots is another, and changes no layout.
class Topology {
 public:
  /// Keys of one part may be in one request, and those of different parts may not.
  using Part = std::uint32_t;

  virtual ~Topology() = default;

  /// Sends the request to the server that has its key. Requests about one key are executed in the order in which they
  /// are sent, as far as the connection holds. Never answered inside the call.
  virtual void send(Request request) = 0;
  virtual Part part_of(std::string_view key) const = 0;
  /// For each server a key that it has: whoever looks for keys sends a request about each of these.
  virtual std::vector<std::string> key_of_each_server() const = 0;

  /// The channels on which scripts publish. A channel is heard, whoever publishes, where its name has the hash tag of
  /// the script's keys; one server hears all names.
  virtual Channels& channels() = 0;

  /// `task` runs whenever what was learnt from a server may be wrong, because another one has taken its place: it
  /// should ask again about all that is known. Never inside a call.
  virtual void when_server_changed(base::Callback<void()> task) = 0;

  /// For a reply that makes no sense as the answer to its request: what to tell the caller. Whether the replies of that
  /// connection still are in order is then checked. REQUIRES: the call is made while the reply is delivered.
  virtual spi::Failure not_understood() = 0;
  /// For messages: "redis at 127.0.0.1:6379". Never a secret.
  virtual std::string shown() const = 0;

  /// Answers everything (Errc::closed), also what comes later.
  virtual void close() = 0;
};

}  // namespace holdfast::redis
