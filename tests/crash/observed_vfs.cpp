// A shim: every method calls that of "unix" and, when it succeeded, reports. Order is what matters:
//   a write is reported after it was done, so a sync that another thread begins in between is not taken to cover it;
//   a sync is reported when it begins and when it has ended, so what is written meanwhile is not taken to be covered.
// What is synced, and whether the directory is, is not guessed from SQLite's calls: the system calls are seen
// (syncs.hpp), also those that the library makes by itself.
#include "crash/observed_vfs.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "crash/syncs.hpp"

namespace holdfast::crash {
namespace {

using Kind = DiskEvent::Kind;

int last_handle = 0;                  // never used again, not even by a later observation
thread_local int syncing_handle = 0;  // of the xSync that this thread is in

bool is_same(const struct stat& file, const std::filesystem::path& path) {
  struct stat other{};
  return stat(path.c_str(), &other) == 0 && other.st_ino == file.st_ino && other.st_dev == file.st_dev;
}

std::string contents_of(const std::filesystem::path& path) {
  std::string contents(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(contents.data(), static_cast<std::streamsize>(contents.size()));
  return contents;
}

/// What is observed, and by whom.
class Observation final : public Syncs::Observer {
 public:
  Observation(const std::filesystem::path& directory, DiskObserver& observer, ObservedVfs::Existing existing)
      : directory_(std::filesystem::canonical(directory)), observer_(observer) {
    if (existing == ObservedVfs::Existing::known) {
      for (const std::string& name : names_on_disk()) was_opened_[name] = true;
      return;
    }
    for (const std::string& name : names_on_disk()) {
      const int handle = opened(name, contents_of(directory_ / name));
      report({Kind::sync_begins, name, handle});
      report({Kind::synced, name, handle});
    }
    directory_synced();
  }

  /// The name of an observed file; empty for others.
  std::string name_of(const char* path) const {
    if (path == nullptr) return {};
    const std::filesystem::path full(path);
    return full.parent_path() == directory_ ? full.filename().string() : std::string();
  }

  /// `contents`: what is in it now, in case that it was made by others than SQLite.
  int opened(const std::string& name, std::string contents) {
    const std::scoped_lock lock(mutex_);
    const int handle = ++last_handle;
    created(name);
    observer_.happened({Kind::opened, name, handle});
    if (!std::exchange(was_opened_[name], true) && !contents.empty()) {
      observer_.happened({Kind::written, name, handle, 0, std::move(contents)});
    }
    return handle;
  }
  void removed(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    if (was_opened_.erase(name) > 0) observer_.happened({Kind::removed, name});
  }
  void sync_begins(const struct stat& file) override { report_sync(Kind::sync_begins, file); }
  void synced(const struct stat& file) override {
    if (is_same(file, directory_)) return directory_synced();
    report_sync(Kind::synced, file);
  }
  void report(const DiskEvent& event) {
    const std::scoped_lock lock(mutex_);
    observer_.happened(event);
  }

 private:
  void directory_synced() {
    const std::scoped_lock lock(mutex_);
    for (const std::string& name : names_on_disk()) created(name);
    observer_.happened({Kind::directory_synced, {}});
  }
  void report_sync(Kind kind, const struct stat& file) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [name, opened] : was_opened_) {
      if (is_same(file, directory_ / name)) observer_.happened({kind, name, syncing_handle});
    }
  }
  void created(const std::string& name) {
    if (was_opened_.try_emplace(name, false).second) observer_.happened({Kind::created, name});
  }

  std::vector<std::string> names_on_disk() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && !name.ends_with("-shm")) names.push_back(name);
    }
    return names;
  }

  const std::filesystem::path directory_;
  DiskObserver& observer_;
  std::mutex mutex_;
  std::map<std::string, bool> was_opened_;  ///< by SQLite; of every file that there is
};

std::atomic<Observation*> observation = nullptr;

sqlite3_vfs* unix_vfs() {
  static sqlite3_vfs* const found = sqlite3_vfs_find("unix");
  return found;
}

/// SQLite allocates it, with the file of "unix" right behind.
struct ObservedFile {
  sqlite3_file base;
  int handle;         ///< 0: not observed
  std::string* name;  ///< null: not observed
};

ObservedFile& observed(sqlite3_file* file) { return *reinterpret_cast<ObservedFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<sqlite3_file*>(&observed(file) + 1); }

void report(sqlite3_file* file, Kind kind, std::int64_t offset = 0, std::string bytes = {}) {
  const ObservedFile& self = observed(file);
  if (self.handle != 0) observation.load()->report({kind, *self.name, self.handle, offset, std::move(bytes)});
}

int close_file(sqlite3_file* file) {
  delete std::exchange(observed(file).name, nullptr);
  return real(file)->pMethods->xClose(real(file));
}
int read(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), into, size, offset);
}
int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const int result = real(file)->pMethods->xWrite(real(file), from, size, offset);
  if (result == SQLITE_OK) {
    report(file, Kind::written, offset, std::string(static_cast<const char*>(from), static_cast<std::size_t>(size)));
  }
  return result;
}
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int result = real(file)->pMethods->xTruncate(real(file), size);
  if (result == SQLITE_OK) report(file, Kind::truncated, size);
  return result;
}
int sync(sqlite3_file* file, int flags) {
  syncing_handle = observed(file).handle;
  const int result = real(file)->pMethods->xSync(real(file), flags);
  syncing_handle = 0;
  return result;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) { return real(file)->pMethods->xFileSize(real(file), size); }
int lock(sqlite3_file* file, int level) { return real(file)->pMethods->xLock(real(file), level); }
int unlock(sqlite3_file* file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
int check_reserved_lock(sqlite3_file* file, int* result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}
int file_control(sqlite3_file* file, int operation, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int device_characteristics(sqlite3_file* file) { return real(file)->pMethods->xDeviceCharacteristics(real(file)); }
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** mapped) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, mapped);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int shm_unmap(sqlite3_file* file, int remove) { return real(file)->pMethods->xShmUnmap(real(file), remove); }

/// Version 2: with shared memory, without xFetch.
constexpr sqlite3_io_methods methods = {2,
                                        close_file,
                                        read,
                                        write,
                                        truncate,
                                        sync,
                                        file_size,
                                        lock,
                                        unlock,
                                        check_reserved_lock,
                                        file_control,
                                        sector_size,
                                        device_characteristics,
                                        shm_map,
                                        shm_lock,
                                        shm_barrier,
                                        shm_unmap,
                                        nullptr,
                                        nullptr};

/// What a file holds that SQLite finds although it did not make it.
std::string contents_of(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  if (file_size(file, &size) != SQLITE_OK) throw std::runtime_error("cannot read the size of an observed file");
  std::string contents(static_cast<std::size_t>(size), '\0');
  if (size > 0 && read(file, contents.data(), static_cast<int>(size), 0) != SQLITE_OK) {
    throw std::runtime_error("cannot read an observed file");
  }
  return contents;
}

int open(sqlite3_vfs*, sqlite3_filename path, sqlite3_file* file, int flags, int* out_flags) {
  ObservedFile& self = observed(file);
  self = {};
  const int result = unix_vfs()->xOpen(unix_vfs(), path, real(file), flags, out_flags);
  if (real(file)->pMethods != nullptr) self.base.pMethods = &methods;
  constexpr int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  const std::string name = observation.load()->name_of(path);
  if (result != SQLITE_OK || (flags & kept) == 0 || name.empty()) return result;
  self.name = new std::string(name);
  self.handle = observation.load()->opened(name, contents_of(file));
  return result;
}

int remove(sqlite3_vfs*, const char* path, int sync_directory) {
  // Before it is done: "unix" may sync the directory in the same call, and that sync is seen to cover it.
  if (const std::string name = observation.load()->name_of(path); !name.empty()) observation.load()->removed(name);
  return unix_vfs()->xDelete(unix_vfs(), path, sync_directory);
}

sqlite3_vfs observed_vfs() {
  sqlite3_vfs vfs = *unix_vfs();  // all that is not about files is that of "unix"
  vfs.szOsFile += static_cast<int>(sizeof(ObservedFile));
  vfs.pNext = nullptr;
  vfs.zName = "observed";
  vfs.xOpen = open;
  vfs.xDelete = remove;
  return vfs;
}

sqlite3_vfs* our_vfs() {
  static sqlite3_vfs vfs = observed_vfs();
  return &vfs;
}

}  // namespace

ObservedVfs::ObservedVfs(const std::filesystem::path& directory, DiskObserver& observer, Existing existing) {
  if (observation != nullptr) throw std::logic_error("there is one ObservedVfs already");
  observation = new Observation(directory, observer, existing);
  Syncs::observe(observation);
  sqlite3_vfs_register(our_vfs(), 1);
}

ObservedVfs::~ObservedVfs() {
  sqlite3_vfs_unregister(our_vfs());
  sqlite3_vfs_register(unix_vfs(), 1);
  Syncs::observe(nullptr);
  delete observation.exchange(nullptr);
}

}  // namespace holdfast::crash
