#include "backends/sqlite/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

[[noreturn]] void refuse(int error, const std::string& what) {
  const Errc code = meaning_of(error);
  const char* advice =
      code == Errc::access_denied ? "; a sqlite: store must be able to write its file and its directory" : "";
  throw Refusal(code, what + ": " + std::generic_category().message(error) + advice);
}

/// Directories that are missing are made one after the other.
void make_directories(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return;
    throw Refusal(Errc::store_failed, "'" + path + "' is not a directory; choose another path for the sqlite: store");
  }
  if (errno != ENOENT) refuse(errno, "cannot look at the directory '" + path + "'");
  if (const auto slash = path.rfind('/'); slash != 0 && slash != std::string::npos) {
    make_directories(path.substr(0, slash));
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) refuse(errno, "cannot make the directory '" + path + "'");
}

/// File locks and shared memory do not reach other machines, or reach them unreliably.
void refuse_network_file_system(const std::string& directory) {
  struct Kind {
    std::uint32_t magic;
    const char* name;
  };
  static constexpr std::array<Kind, 16> network = {{{0x6969, "NFS"},
                                                    {0x517b, "SMB"},
                                                    {0xff534d42, "CIFS"},
                                                    {0xfe534d42, "SMB"},
                                                    {0x01021997, "9P"},
                                                    {0x65735546, "FUSE"},
                                                    {0x00c36400, "Ceph"},
                                                    {0x0bd00bd0, "Lustre"},
                                                    {0x47504653, "GPFS"},
                                                    {0x01161970, "GFS2"},
                                                    {0x7461636f, "OCFS2"},
                                                    {0x5346414f, "AFS"},
                                                    {0x6b414653, "AFS"},
                                                    {0x73757245, "Coda"},
                                                    {0x19830326, "BeeGFS"},
                                                    {0x786f4256, "a virtual machine's shared folder"}}};
  struct statfs status{};
  if (::statfs(directory.c_str(), &status) != 0) refuse(errno, "cannot look at the file system of '" + directory + "'");
  const auto magic = static_cast<std::uint32_t>(status.f_type);
  const auto* found =
      std::find_if(network.begin(), network.end(), [&](const Kind& kind) { return kind.magic == magic; });
  if (found == network.end()) return;
  throw Refusal(Errc::unsupported, "'" + directory + "' is on a file system that machines may share (" + found->name +
                                       "); a sqlite: store serves the processes of one host and needs a local disk");
}

std::string resolved(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  if (::realpath(path.c_str(), buffer.data()) == nullptr) refuse(errno, "cannot find '" + path + "'");
  return buffer.data();
}

/// SQLite gives its companion files the mode of the database, whatever the umask.
void make_file(const std::string& path) {
  // Closing a descriptor of a file that SQLite has open would drop SQLite's locks. A file that we just made has none.
  const spi::FileDescriptor made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made && errno != EEXIST) refuse(errno, "cannot make the file '" + path + "'");
}

void sync_directory(const std::string& path) {
  const spi::FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) refuse(errno, "cannot sync the directory '" + path + "'");
}

void check_file(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) refuse(errno, "cannot look at '" + path + "'");
  if (!S_ISREG(status.st_mode)) {
    throw Refusal(Errc::store_failed, "'" + path + "' is not a file; choose another path for the sqlite: store");
  }
  if (status.st_uid != ::geteuid()) {
    throw Refusal(Errc::access_denied, "'" + path + "' belongs to user " + std::to_string(status.st_uid) +
                                           ", and this process is user " + std::to_string(::geteuid()) +
                                           "; a sqlite: store serves one user: use another path, or a store with a "
                                           "server");
  }
  if (status.st_nlink > 1) {
    throw Refusal(Errc::store_failed, "'" + path +
                                          "' has more than one name (hard links), so its users would not meet; "
                                          "remove the other names");
  }
}

}  // namespace

Files Files::prepare(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  make_directories(directory);
  refuse_network_file_system(directory);
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno != ENOENT) refuse(errno, "cannot look at '" + path + "'");
    make_file(path);
    sync_directory(directory);
  }
  Files files{.database = resolved(path)};
  check_file(files.database);
  refuse_network_file_system(files.database);
  if (::mkdir(files.doors().c_str(), 0700) != 0 && errno != EEXIST) {
    refuse(errno, "cannot make the directory '" + files.doors() + "'");
  }
  return files;
}

FileIdentities::FileIdentities(const Files& files)
    : paths_{files.database, files.log(), files.database + "-shm", files.lifelines()} {
  std::transform(paths_.begin(), paths_.end(), identities_.begin(), &identity_of);
}

bool FileIdentities::still_there() const {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (identity_of(paths_[i]) != identities_[i]) return false;
  }
  return true;
}

FileIdentities::Identity FileIdentities::identity_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino};
}

}  // namespace holdfast::sqlite
