#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "holdfast/status.hpp"
#include "spi/result.hpp"

namespace holdfast::redis {

/// The four keys of one line of claims (queue_line.hpp says what is in them). They lie in one hash slot.
struct LineKeys {
  std::string line;
  std::string claims;
  std::string order;
  std::string counter;
};

/// The four keys of one lock of the layout `plain` (plain_lock.hpp).
struct PlainKeys {
  std::string lock;
  std::string holder;
  std::string waiters;
  std::string counter;
};

/// How names become keys: `<prefix>:{<bucket>}:<what>:<name>`. Because of the braces a cluster puts all keys of a
/// bucket, and with them the bucket's counter of grants, into one slot. There are 256 buckets, so a client with many
/// locks renews them in few requests there, too.
///
/// | what       | is                                                        |
/// |------------|-----------------------------------------------------------|
/// | l, lc, lo  | the line, the claims and the order of a lock              |
/// | p, pc, po  | the same of a semaphore                                   |
/// | h, w       | layout `plain`: what the holder says of itself, who waits |
/// | r          | a register, and the channel on which its changes are told |
/// | n          | without a name: the bucket's counter                      |
///
/// In the layout `plain` the key of a lock is its name, because other libraries use that key.
class Keys {
 public:
  explicit Keys(std::string prefix) : prefix_(std::move(prefix)) {}

  LineKeys line(std::string_view name, LockKind kind) const;
  PlainKeys plain(std::string_view name) const;
  /// For the layout `plain`: Errc::invalid_argument if the name is, or may become, one of the keys above.
  std::optional<spi::Failure> why_taken(std::string_view name) const;
  std::string register_of(std::string_view name) const;
  /// The channel on which a client is told what happens to its claims (queue_line.hpp).
  std::string channel_of(std::string_view client) const { return prefix_ + ":client:" + std::string(client); }

  /// The pattern by which SCAN finds the lines of all locks and semaphores whose names begin with `name_prefix`.
  std::string pattern(std::string_view name_prefix) const;

  struct Parsed {
    std::string name;
    LockKind kind = LockKind::lock;  ///< of a line
  };
  /// The name in the key of a line or of a register.
  static Parsed parse(std::string_view key);

  /// Writes braces, colons, control characters and what is special in a pattern as %XX. A prefix of a name becomes a
  /// prefix of its encoding.
  static std::string encode(std::string_view name);
  static std::string decode(std::string_view encoded);

 private:
  std::string in_bucket(std::string_view bucket, std::string_view what, std::string_view encoded) const;

  const std::string prefix_;
};

}  // namespace holdfast::redis
