#pragma once

#include <map>
#include <string>
#include <string_view>

namespace holdfast::base {

/// A store's URL, taken apart: `scheme:rest[?key=value&...]`. Percent-encoding in keys and values is decoded; `rest` is
/// left to the backend, which knows its own form.
struct Url {
  std::string scheme = {};  ///< lower case
  std::string rest = {};    ///< between the first colon and the question mark
  std::map<std::string, std::string> options = {};

  /// Throws Error (Errc::bad_url) that says what is wrong. Never repeats the text: it may hold a password.
  static Url parse(std::string_view text);
};

/// Decodes percent-encoding, for backends whose `rest` is a path. Throws like Url::parse().
std::string decode_path(std::string_view rest);

}  // namespace holdfast::base
