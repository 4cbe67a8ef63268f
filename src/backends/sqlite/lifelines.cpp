#include "backends/sqlite/lifelines.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

using FileId = std::pair<dev_t, ino_t>;

struct Directory {
  std::mutex mutex;
  std::map<FileId, Lifelines*> known;
};

Directory& directory() {
  static auto& directory = *new Directory;  // never destroyed: a client in static storage may be the last
  return directory;
}

struct flock lock_of(ClientNumber client, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = client;
  lock.l_len = 1;
  return lock;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Refusal(meaning_of(error), "cannot open '" + path +
                                       "', where the clients of a sqlite: store are known to be alive: " +
                                       std::generic_category().message(error));
}

}  // namespace

Lifelines::Handle Lifelines::in(const std::string& path) {
  Directory& all = directory();
  const std::lock_guard lock(all.mutex);
  struct stat status{};
  Lifelines* known = nullptr;
  if (::stat(path.c_str(), &status) == 0) {
    const auto found = all.known.find({status.st_dev, status.st_ino});
    if (found != all.known.end()) known = found->second;
  }
  if (known == nullptr) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0) fail(path, errno);
    Lifelines*& entry = all.known[{status.st_dev, status.st_ino}];
    if (entry == nullptr) {
      entry = new Lifelines(descriptor);
    } else {
      entry->descriptors_.push_back(descriptor);  // somebody moved files just now; closing it would end the locks
    }
    known = entry;
  }
  ++known->users_;
  return Handle(*known);
}

Lifelines::Handle::~Handle() {
  if (lifelines_ == nullptr) return;
  Directory& all = directory();
  const std::lock_guard lock(all.mutex);
  if (--lifelines_->users_ > 0) return;
  std::erase_if(all.known, [this](const auto& entry) { return entry.second == lifelines_; });
  delete lifelines_;
}

Lifelines::~Lifelines() {
  ForkGate::leave(*this);
  for (const int descriptor : descriptors_) ::close(descriptor);
}

bool Lifelines::take(ClientNumber client) {
  const std::lock_guard lock(mutex_);
  struct flock wanted = lock_of(client, F_WRLCK);
  if (own_.contains(client) || ::fcntl(descriptors_.front(), F_SETLK, &wanted) != 0) return false;
  own_.insert(client);
  return true;
}

void Lifelines::drop(ClientNumber client) {
  const std::lock_guard lock(mutex_);
  if (own_.erase(client) == 0) return;
  struct flock unlocked = lock_of(client, F_UNLCK);
  ::fcntl(descriptors_.front(), F_SETLK, &unlocked);
}

int Lifelines::share(ClientNumber client) {
  const std::lock_guard lock(mutex_);
  const std::string same_file = "/proc/self/fd/" + std::to_string(descriptors_.front());
  // Kept even if what follows fails: closing it would end all record locks of this process.
  const PrivateDescriptor& shared = shared_.emplace_back(::open(same_file.c_str(), O_RDWR | O_CLOEXEC));
  struct flock wanted = lock_of(client, F_RDLCK);
  if (!shared || ::fcntl(descriptors_.front(), F_SETLK, &wanted) != 0 ||
      ::fcntl(shared.get(), F_OFD_SETLK, &wanted) != 0) {
    fail(same_file, errno);
  }
  return shared.get();
}

bool Lifelines::alive(ClientNumber client) const {
  {
    const std::lock_guard lock(mutex_);
    if (own_.contains(client)) return true;
  }
  struct flock found = lock_of(client, F_WRLCK);
  // If the kernel cannot tell, the lease decides.
  return ::fcntl(descriptors_.front(), F_GETLK, &found) != 0 || found.l_type != F_UNLCK;
}

}  // namespace holdfast::sqlite
