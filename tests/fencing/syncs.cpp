#include "fencing/syncs.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>

namespace holdfast::fencing {
namespace {

std::mutex mutex;
std::vector<std::string> names;
int error_to_return = 0;

int sync(int descriptor, long call) {
  {
    const std::scoped_lock lock(mutex);
    std::error_code ignored;
    names.push_back(
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), ignored).filename().string());
    if (error_to_return != 0) {
      errno = error_to_return;
      return -1;
    }
  }
  return static_cast<int>(syscall(call, descriptor));
}

}  // namespace

std::vector<std::string> Syncs::take() {
  const std::scoped_lock lock(mutex);
  return std::exchange(names, {});
}

void Syncs::fail_with(int error) {
  const std::scoped_lock lock(mutex);
  error_to_return = error;
}

}  // namespace holdfast::fencing

// A program's own definitions come before those of the C library.
extern "C" {
int fsync(int descriptor) { return holdfast::fencing::sync(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return holdfast::fencing::sync(descriptor, SYS_fdatasync); }
}
