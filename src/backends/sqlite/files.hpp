#pragma once

#include <sys/types.h>

#include <array>
#include <string>

#include "base/file_descriptor.hpp"

namespace holdfast::sqlite {

/// The files of one store: the database with SQLite's companions, the lifelines of its clients, and a directory with
/// their mailboxes. SQLite plays back a rollback journal that it finds, so an empty one, which is never used, keeps that
/// name from others.
struct Files {
  std::string database = {};  ///< an absolute path without symbolic links

  std::string log() const { return database + "-wal"; }
  std::string lifelines() const { return database + "-alive"; }
  std::string mailboxes() const { return database + "-mailboxes"; }

  /// Creates the files that are missing, for their owner only, but no directory. Throws Refusal that says what to do:
  /// Errc::bad_url if the directory does not exist, Errc::unsupported on a network file system, Errc::access_denied,
  /// Errc::exhausted, Errc::store_failed.
  static Files prepare(const std::string& path);
  /// Creates those of SQLite's companions, and of ours, that are missing; refuses those that are not this user's own.
  /// Throws Refusal.
  void make_companions() const;
};

/// Which files a connection has open, so that it can be seen when somebody puts others in their place.
class FileIdentities {
 public:
  /// Remembers them as they are.
  explicit FileIdentities(const Files& files);
  bool still_there() const;

 private:
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    friend bool operator==(const Identity&, const Identity&) = default;
  };
  static Identity identity_of(const std::string& path);

  const std::array<std::string, 4> paths_;
  std::array<Identity, 4> identities_;
};

}  // namespace holdfast::sqlite
