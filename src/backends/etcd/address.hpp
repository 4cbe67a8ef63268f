#pragma once

#include <string>
#include <vector>

#include "base/url.hpp"
#include "kit/url/options.hpp"

namespace holdfast::etcd {

/// Where the servers of a cluster are and how to enter it, as its URL says:
///
///     etcd://[user:password@]host[:port][,host[:port]...][?options]
///     etcds://...                         the same inside TLS
///
/// | option        | meaning                                                                        |
/// |---------------|--------------------------------------------------------------------------------|
/// | prefix        | what all keys begin with; `holdfast` unless given                              |
/// | ca, cert, key | TLS: files with trusted authorities, and with the client's certificate and key |
struct Address {
  std::vector<std::string> servers = {};  ///< "host:port", an IPv6 address in brackets; at least one
  bool uses_tls = false;
  kit::TlsFiles tls = {};
  std::string user = {};  ///< empty: nobody logs in
  std::string password = {};
  std::string prefix = "holdfast";

  /// Throws Error (Errc::bad_url) that says what is wrong, and repeats nothing that may be secret.
  static Address parse(const base::Url& url);

  /// For messages: "etcd at 127.0.0.1:2379". Never a secret.
  std::string shown() const;
};

}  // namespace holdfast::etcd
