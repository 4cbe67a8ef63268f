#pragma once

#include <sys/types.h>

#include <array>
#include <string>

#include "spi/file_descriptor.hpp"

namespace holdfast::sqlite {

/// The files of one store: the database with SQLite's two companions, the lifelines of its clients, and a directory
/// with their doors.
struct Files {
  std::string database = {};  ///< an absolute path without symbolic links

  std::string log() const { return database + "-wal"; }
  std::string lifelines() const { return database + "-alive"; }
  std::string doors() const { return database + "-doors"; }

  /// Makes what is missing, for its owner only. Throws Refusal that says what to do: Errc::unsupported on a network
  /// file system, Errc::access_denied, Errc::exhausted, Errc::store_failed.
  static Files prepare(const std::string& path);
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
