#pragma once

#include <string>
#include <string_view>

/// Options that several stores' URLs have. All throw Error (Errc::bad_url) that begins with `the <store> URL`, says what
/// is wrong, and repeats nothing.
namespace holdfast::kit {

/// `prefix`, what the names of all keys begin with: 1 to 64 letters, digits and . _ - and what `also_allowed` has.
std::string parse_prefix(const std::string& value, const std::string& store, std::string_view also_allowed);

/// `ca`, `cert` and `key`.
struct TlsFiles {
  std::string authorities_file = {};  ///< empty: those that the system trusts
  std::string certificate_file = {};
  std::string key_file = {};

  /// False if the option is none of these.
  bool set(std::string_view option, const std::string& value);
  /// Refuses a certificate without its key, and a key without its certificate.
  void check(const std::string& store) const;
};

}  // namespace holdfast::kit
