#pragma once

#include <string>
#include <string_view>

namespace holdfast::kit {

/// A server as a URL names it.
struct Host {
  std::string name = {};  ///< or a number, without brackets
  std::string port = {};

  /// `host`, `host:port`, `[::1]` or `[::1]:port`, where `%XX` stands for any character. Throws Error (Errc::bad_url)
  /// that begins with `the <store> URL`, says what is wrong, and repeats nothing.
  static Host parse(std::string_view text, const std::string& store, std::string_view usual_port);

  /// With its port, and brackets if it needs them.
  std::string text() const;
};

}  // namespace holdfast::kit
