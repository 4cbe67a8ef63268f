#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// A script that the server runs in one atomic step, and the digest by which it remembers the text.
class Script {
 public:
  /// A word that the text writes as `$name`, and what stands there: where the parts of a record are, say.
  struct Constant {
    std::string_view name;  ///< lower case letters and `_`
    std::string_view value;
  };

  /// The parts follow each other. A `$name` that is not among the constants stays as it is, and the server refuses the
  /// script.
  Script(std::initializer_list<std::string_view> parts, std::span<const Constant> constants = {});

  const std::string& text() const { return text_; }
  const std::string& digest() const { return digest_; }

 private:
  std::string text_;
  std::string digest_;
};

/// SHA-1 in hexadecimal digits: the server's names for scripts. By hand, because OpenSSL is loaded only for TLS.
std::string sha1(std::string_view text);

}  // namespace holdfast::redis
