#pragma once

#include <string>

#include "backends/redis/connection/server_address.hpp"
#include "base/url.hpp"

namespace holdfast::redis {

/// What the URL of a store in Redis says:
///
///     redis://[[user]:password@]host[:port][/database][?options]
///     rediss://...                        the same inside TLS
///     redis+unix:/path/to.sock[?options]
///
/// | option        | meaning                                                                        |
/// |---------------|--------------------------------------------------------------------------------|
/// | prefix        | what the names of all keys and channels begin with; `holdfast` unless given    |
/// | layout        | how locks are kept in keys: `queue`, or `plain` as other libraries do          |
/// | db, user,     | unix socket: the number of the database and the credentials, for which the URL |
/// | password      | has no other place there                                                       |
/// | ca, cert, key | TLS: files with trusted authorities, and with the client's certificate and key |
/// | verify        | TLS: `no` accepts every certificate of the server                              |
struct RedisUrl {
  enum class Layout { queue, plain };

  ServerAddress server = {};
  std::string prefix = "holdfast";
  Layout layout = Layout::queue;

  /// Throws Error (Errc::bad_url) that says what is wrong, and repeats nothing that may be secret.
  static RedisUrl parse(const base::Url& url);
};

}  // namespace holdfast::redis
