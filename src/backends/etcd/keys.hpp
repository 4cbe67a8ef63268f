#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "spi/claims.hpp"

namespace holdfast::etcd {

/// How names become keys.
///
/// | key                             | is                                                                |
/// |---------------------------------|-------------------------------------------------------------------|
/// | `<prefix>/<name>/<claim>`       | a claim on a lock: the line that `etcdctl lock <prefix>/<name>` joins, too |
/// | `<prefix>/~permits/<name>/<claim>` | a claim on a semaphore                                         |
/// | `<prefix>/~register/<name>`     | a register                                                        |
///
/// In names all but letters, digits and `._-` is %XX, so they contain no slash and begin with no tilde.
class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  /// What the keys of a line begin with, up to the last slash.
  std::string line(std::string_view name, bool permits) const;
  std::string claim(std::string_view name, bool permits, const spi::ClaimId& id) const;
  std::string register_of(std::string_view name) const;
  /// Begin and end of all lines of that kind whose names begin so.
  std::pair<std::string, std::string> range_of_lines(std::string_view name_prefix, bool permits) const;

  /// The name in the key of a claim; empty if it is none of that kind.
  std::optional<std::string> name_in(std::string_view key, bool permits) const;

  /// The end of the range of all keys that begin so.
  static std::string end_of(std::string_view prefix);

 private:
  std::string lines(std::string_view name_prefix, bool permits) const;

  const std::string prefix_;
};

/// What a name begins with, its encoding begins with, too.
std::string encode(std::string_view name);
/// Empty if it is not an encoding.
std::optional<std::string> decode(std::string_view encoded);

}  // namespace holdfast::etcd
