#pragma once

#include <filesystem>

#include "crash/disk_event.hpp"

namespace holdfast::crash {

/// While it exists, SQLite's default VFS is one of ours that does what "unix" does and tells `observer` of everything
/// that happens to databases, WALs and journals in `directory`.
///
/// Files elsewhere are not observed. The shared memory beside a database is no file to this VFS, and is passed through.
/// Memory-mapped reading and writing is not offered. REQUIRES: no other one exists; no connection outlives it.
class ObservedVfs {
 public:
  /// What to say of the files that are there already.
  enum class Existing {
    durable,  ///< they are reported first, as if they had just been made and synced
    known,    ///< nothing: the observer knows them
  };

  ObservedVfs(const std::filesystem::path& directory, DiskObserver& observer, Existing existing = Existing::durable);
  ~ObservedVfs();
  ObservedVfs(const ObservedVfs&) = delete;
  ObservedVfs& operator=(const ObservedVfs&) = delete;
};

}  // namespace holdfast::crash
