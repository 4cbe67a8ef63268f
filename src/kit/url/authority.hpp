#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kit/url/host.hpp"

namespace holdfast::kit {

/// The part of a store's URL that says where its servers are and who logs in:
///
///     //[user:password@]host[:port][,host[:port]...][/path]
struct Authority {
  /// What is different from store to store.
  struct Rules {
    std::string store;  ///< for messages, and for the examples in them: the scheme, too
    std::string_view usual_port;
    std::size_t most_hosts = 64;
    bool needs_user = true;     ///< false: `:password@host` logs in as the server's default user
    bool may_have_path = true;  ///< false: only a slash may follow the hosts
  };

  std::string user = {};  ///< decoded, like the password; both are empty if the URL has neither
  std::string password = {};
  std::vector<Host> hosts = {};  ///< at least one
  std::string path = {};         ///< as it is in the URL: empty, or from its slash on

  /// `rest`: of a base::Url. Throws Error (Errc::bad_url) that begins with `the <store> URL`, says what is wrong, and
  /// repeats nothing.
  static Authority parse(std::string_view rest, const Rules& rules);
};

}  // namespace holdfast::kit
