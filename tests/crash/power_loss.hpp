#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "crash/disk_event.hpp"

namespace holdfast::crash {

/// What becomes of writes, truncations and names that were not synced when the power fails.
enum class Loss {
  everything,  ///< none of them happened
  nothing,     ///< all of them did, as after a crash of the process alone
  some,        ///< each of them did or did not
  torn,        ///< each 512-byte sector of each write did or did not
  late,        ///< the earlier ones did, one was under way, the later ones did not
};
inline constexpr Loss every_loss[] = {Loss::everything, Loss::nothing, Loss::some, Loss::torn, Loss::late};

/// Which syncs a disk takes seriously. All but the first are for controls: on them the promises must fail.
enum class Disk {
  honest,
  forgets_everything,  ///< no sync has any effect, as with synchronous=OFF
  forgets_the_wal,     ///< syncs of a WAL have no effect
  forgets_commits,     ///< syncs of a WAL after commits have no effect, as with synchronous=NORMAL
  forgets_names,       ///< syncs of the directory have no effect
};

/// A disk and the cache before it, as they were at some moment of a journal.
///
/// A file's durable bytes are what its last honest sync covered; a name's durable meaning is that of the directory's
/// last sync. Everything since then is lost or kept as Loss says. A hole that a lost write leaves reads as zeros. Bytes
/// of a sector that were not written do not suffer (SQLite's "powersafe overwrite").
class PowerLoss {
 public:
  /// REQUIRES: `events` outlive it.
  explicit PowerLoss(const std::vector<DiskEvent>& events, Disk disk = Disk::honest) : events_(events), disk_(disk) {}

  /// Goes on until `position` events have happened. REQUIRES: it is not past that.
  void advance_to(std::size_t position);

  /// What is found after the power failed now: the files, in `directory`, which is emptied first. The same `seed` gives
  /// the same files.
  void write_image(const std::filesystem::path& directory, Loss loss, std::uint32_t seed) const;

 private:
  struct File {
    std::string durable = {};
    std::vector<const DiskEvent*> changes = {};
    std::size_t durable_changes = 0;
  };
  struct Handle {
    std::size_t file = 0;
    std::size_t sync_covers = 0;
    bool committed = false;  ///< its last write was one of frames
  };
  using Names = std::map<std::string, std::size_t>;

  void apply(const DiskEvent& event);
  Handle& handle_of(const DiskEvent& event);
  void finish_sync(const DiskEvent& event);
  Names names_after(Loss loss, std::mt19937& random) const;
  static std::string contents_after(const File& file, Loss loss, std::mt19937& random);

  const std::vector<DiskEvent>& events_;
  const Disk disk_;
  std::size_t position_ = 0;
  std::vector<File> files_;
  std::map<int, Handle> handles_;
  Names names_;
  Names durable_names_;
};

}  // namespace holdfast::crash
