#pragma once

#include <cstdint>
#include <string>

namespace holdfast::crash {

/// Something that SQLite did to a file of the observed directory.
struct DiskEvent {
  enum class Kind {
    created,           ///< `file` is a new and empty file
    opened,            ///< `handle` stands for what `file` names now
    written,           ///< `bytes` at `offset`
    truncated,         ///< to `offset` bytes
    sync_begins,       ///< fsync was called; covers what was written before
    synced,            ///< and has returned
    removed,           ///< `file` is no longer a name
    directory_synced,  ///< names created and removed before are so for good
  };

  Kind kind;
  std::string file;  ///< its name in the directory
  int handle = 0;    ///< which open file it was done through; 0: none of SQLite's
  std::int64_t offset = 0;
  std::string bytes = {};
};

class DiskObserver {
 public:
  virtual ~DiskObserver() = default;
  /// Called right after the event, by the thread that caused it. One call at a time.
  virtual void happened(const DiskEvent& event) = 0;
};

}  // namespace holdfast::crash
