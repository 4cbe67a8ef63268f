#pragma once

#include <string>

#include "support/temporary_directory.hpp"

namespace holdfast::redis_suite {

/// An authority of the test's own. Everything is a file in PEM form.
class Certificates {
 public:
  /// Throws if the program openssl does not do it.
  Certificates();

  std::string authority() const { return file("ca.crt"); }
  std::string key_of(const std::string& owner) const { return file(owner + ".key"); }
  std::string certificate_of(const std::string& owner) const { return file(owner + ".crt"); }

  /// `names` as OpenSSL writes them: "IP:127.0.0.1,DNS:localhost". Valid for so many days from now; 0: not any more.
  void issue(const std::string& owner, const std::string& names, int days = 2) const;

 private:
  std::string file(const std::string& name) const { return (directory_.path() / name).string(); }
  void run(const std::string& command) const;

  const test::TemporaryDirectory directory_;
};

}  // namespace holdfast::redis_suite
