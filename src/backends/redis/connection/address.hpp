#pragma once

#include <string>

#include "base/url.hpp"

namespace holdfast::redis {

/// Where a server is and how to enter it, as its URL says:
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
struct Address {
  enum class Transport { tcp, tls, unix_socket };
  enum class Layout { queue, plain };

  struct Tls {
    std::string authorities_file = {};  ///< empty: those that the system trusts
    std::string certificate_file = {};
    std::string key_file = {};
    bool verify = true;
  };

  Transport transport = Transport::tcp;
  std::string host = {};  ///< a name or a number, without brackets
  std::string port = {};
  std::string path = {};  ///< of a unix socket
  std::string user = {};  ///< empty: the server's default user
  std::string password = {};
  int database = 0;
  std::string prefix = "holdfast";
  Layout layout = Layout::queue;
  Tls tls = {};

  /// Throws Error (Errc::bad_url) that says what is wrong, and repeats nothing that may be secret.
  static Address parse(const base::Url& url);

  /// For messages: "redis at 127.0.0.1:6379". Never a secret.
  std::string shown() const;
};

}  // namespace holdfast::redis
