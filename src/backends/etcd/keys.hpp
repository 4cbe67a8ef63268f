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
/// | key                                | what it is                                                                   |
/// |------------------------------------|------------------------------------------------------------------------------|
/// | `<prefix>/<name>/<claim>`          | a claim on a lock; `etcdctl lock <prefix>/<name>` joins the same line        |
/// | `<prefix>/<name>/~<claim>`         | a shared claim on a lock; the exclusive ones can be read without these       |
/// | `<prefix>/~permits/<name>/<claim>` | a claim on a semaphore                                                       |
/// | `<prefix>/~permits/<name>`         | a semaphore's joined mark; semaphore_cache.hpp explains it                   |
/// | `<prefix>/~register/<name>`        | a register                                                                   |
///
/// The key of a claim ends with its slot (key_slots.hpp). All bytes of a name but letters, digits and `._-` are written
/// as %XX, so an encoded name contains no slash and does not begin with a tilde. A claim that becomes shared after it
/// has joined its line keeps its key.
class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  /// What the keys of a line begin with, including the last slash.
  std::string line(std::string_view name, LockKind kind) const;
  /// The key of a claim that joins its line in this mode.
  std::string claim(std::string_view name, ClaimMode mode, const spi::ClaimId& slot) const;
  /// All keys that a claim may have in a line. A claim on a lock may have joined the line in either of two modes.
  std::vector<std::string> claims(std::string_view name, LockKind kind, const spi::ClaimId& slot) const;
  std::string joined_mark(std::string_view name) const;
  std::string register_of(std::string_view name) const;
  /// The begin and the end of all lines of this kind whose names begin with `name_prefix`.
  std::pair<std::string, std::string> range_of_lines(std::string_view name_prefix, LockKind kind) const;

  /// The name in the key of a claim. Empty if it is not the key of a claim of this kind.
  std::optional<std::string> name_in(std::string_view key, LockKind kind) const;

  /// The end of the range of all keys that begin with `prefix`.
  static std::string end_of(std::string_view prefix);
  /// The end of the exclusive claims of a lock's line. The shared ones sort behind it.
  static std::string end_of_exclusive(std::string_view line);
  /// The mode in which the claim with that key has joined its line.
  static ClaimMode mode_in(std::string_view line, std::string_view key, LockKind kind);
  /// What all keys begin with that the client of `key` has in the line. It is the whole key if Holdfast did not write
  /// it.
  static std::string client_in(std::string_view line, std::string_view key);

 private:
  std::string lines(std::string_view name_prefix, LockKind kind) const;

  const std::string prefix_;
};

/// An id as it is written in keys and records.
std::string hexadecimal(const spi::ClaimId& id);

/// The encoding of a name begins with the encoding of each beginning of the name.
std::string encode(std::string_view name);
/// Empty if `encoded` is not an encoding.
std::optional<std::string> decode(std::string_view encoded);

}  // namespace holdfast::etcd
