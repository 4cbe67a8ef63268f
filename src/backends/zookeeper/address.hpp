#pragma once

#include <string>
#include <vector>

#include "base/url.hpp"
#include "kit/url/host.hpp"

namespace holdfast::zookeeper {

/// Where an ensemble is and how to enter it, as its URL says:
///
///     zookeeper://[user:password@]host[:port][,host[:port]...][/chroot][?options]
///
/// | option | meaning                                                                     |
/// |--------|-----------------------------------------------------------------------------|
/// | prefix | the node below the chroot that has all of ours; `holdfast` unless given     |
/// | fair   | `false`: waiters watch the first claim of the line, not the one just ahead  |
struct Address {
  std::vector<kit::Host> hosts = {};
  std::string user = {};
  std::string password = {};
  std::string chroot = {};  ///< empty, or begins with a slash and does not end with one
  std::string prefix = "holdfast";
  bool fair = true;

  /// Throws Error (Errc::bad_url) that says what is wrong, and repeats nothing that may be secret.
  static Address parse(const base::Url& url);

  /// The node that has all of ours.
  std::string root() const { return chroot + "/" + prefix; }
  /// For messages: "zookeeper at 127.0.0.1:2181". Never a secret.
  std::string shown() const;
};

}  // namespace holdfast::zookeeper
