#include "crash/syncs.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace holdfast::crash {
namespace {

std::atomic<bool> real = false;
std::atomic<Syncs::Observer*> observer = nullptr;

int sync(int descriptor, long call) {
  Syncs::Observer* const seen_by = observer;
  struct stat file{};
  if (seen_by != nullptr && fstat(descriptor, &file) != 0) return -1;
  if (seen_by != nullptr) seen_by->sync_begins(file);
  if (real && syscall(call, descriptor) != 0) return -1;
  if (seen_by != nullptr) seen_by->synced(file);
  return 0;
}

}  // namespace

void Syncs::make_real() { real = true; }

void Syncs::observe(Observer* next) { observer = next; }

}  // namespace holdfast::crash

// A program's own definitions come before those of the C library, also for the shared libraries that it uses.
extern "C" {
int fsync(int descriptor) { return holdfast::crash::sync(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return holdfast::crash::sync(descriptor, SYS_fdatasync); }
}
