#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/name.hpp"
#include "holdfast/status.hpp"
#include "spi/claims.hpp"

namespace holdfast::etcd {

/// How names become keys.
///
/// | key                                | is                                                                         |
/// |------------------------------------|----------------------------------------------------------------------------|
/// | `<prefix>/<name>/<claim>`          | a claim on a lock: the line that `etcdctl lock <prefix>/<name>` joins, too |
/// | `<prefix>/<name>/~<claim>`         | one that is shared: apart, so that exclusive ones can be read without them |
/// | `<prefix>/~permits/<name>/<claim>` | a claim on a semaphore                                                     |
/// | `<prefix>/~permits/<name>`         | a semaphore's door: see rooms.hpp                                          |
/// | `<prefix>/~register/<name>`        | a register                                                                 |
///
/// The key of a claim ends with its slot (slots.hpp). In names all but letters, digits and `._-` is %XX, so they
/// contain no slash and begin with no tilde. A claim that was made shared later keeps its key.
class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  /// What the keys of a line begin with, up to the last slash.
  std::string line(std::string_view name, LockKind kind) const;
  /// `slot`: see slots.hpp.
  std::string claim(std::string_view name, ClaimMode mode, const spi::ClaimId& slot) const;
  /// All the keys that a claim may have in one line of a name: in a lock's line it may have joined in either mode.
  std::vector<std::string> claims(std::string_view name, LockKind kind, const spi::ClaimId& slot) const;
  std::string door(std::string_view name) const;
  std::string register_of(std::string_view name) const;
  /// Begin and end of all lines of that kind whose names begin so.
  std::pair<std::string, std::string> range_of_lines(std::string_view name_prefix, LockKind kind) const;

  /// The name in the key of a claim; empty if it is none of that kind.
  std::optional<std::string> name_in(std::string_view key, LockKind kind) const;

  /// The end of the range of all keys that begin so.
  static std::string end_of(std::string_view prefix);
  /// The end of the exclusive claims of a lock's line; the shared ones stand behind.
  static std::string end_of_exclusive(std::string_view line);
  /// In which mode the claim with that key has joined its line.
  static ClaimMode mode_in(std::string_view line, std::string_view key, LockKind kind);
  /// What all keys begin with that the client which made `key` has in that line. The key itself if we do not know.
  static std::string client_in(std::string_view line, std::string_view key);

 private:
  std::string lines(std::string_view name_prefix, LockKind kind) const;

  const std::string prefix_;
};

/// As it is written in keys and records.
std::string hexadecimal(const spi::ClaimId& id);

/// What a name begins with, its encoding begins with, too.
std::string encode(std::string_view name);
/// Empty if it is not an encoding.
std::optional<std::string> decode(std::string_view encoded);

}  // namespace holdfast::etcd
