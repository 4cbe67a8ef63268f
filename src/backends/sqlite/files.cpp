#include "backends/sqlite/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "backends/sqlite/failures.hpp"
#include "backends/sqlite/safe_path.hpp"

namespace holdfast::sqlite {
namespace {

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

void sync_directory(const std::string& path) {
  const base::FileDescriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) refuse(errno, "cannot sync the directory '" + path + "'");
}

constexpr std::array<const char*, 4> companions = {"-wal", "-shm", "-journal", "-alive"};

}  // namespace

Files Files::prepare(const std::string& path) {
  const Files files{.database = resolve(path)};
  const std::string directory = files.database.substr(0, std::max<std::size_t>(files.database.rfind('/'), 1));
  check_directory(directory);
  refuse_network_file_system(directory);
  if (make_own_file(files.database)) sync_directory(directory);
  refuse_network_file_system(files.database);
  files.make_companions();
  return files;
}

void Files::make_companions() const {
  // SQLite would make its own ones, but it also takes whatever it finds.
  for (const char* companion : companions) make_own_file(database + companion);
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
