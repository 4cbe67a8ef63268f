#pragma once

#include <string>
#include <vector>

#include "base/url.hpp"
#include "kit/url/options.hpp"

namespace holdfast::etcd {

/// Where the servers of a cluster are and how to log in, as the URL says:
///
///     etcd://[user:password@]host[:port][,host[:port]...][?options]
///     etcds://...                         the same over TLS
///
/// | option        | meaning                                                                          |
/// |---------------|----------------------------------------------------------------------------------|
/// | prefix        | what all keys begin with; the default is `holdfast`                              |
/// | ca, cert, key | etcds: files with the trusted authorities and the client's certificate and key   |
struct Address {
  std::vector<std::string> servers = {};  ///< at least one "host:port"; IPv6 addresses are in brackets
  bool uses_tls = false;
  kit::TlsFiles tls = {};
  std::string user = {};  ///< empty: the client does not log in
  std::string password = {};
  std::string prefix = "holdfast";

  /// Throws Error (Errc::bad_url). Its message says what is wrong and repeats nothing that may be secret.
  static Address parse(const base::Url& url);

  /// How messages name the cluster: "etcd at 127.0.0.1:2379". Never contains a secret.
  std::string shown() const;
};

}  // namespace holdfast::etcd
