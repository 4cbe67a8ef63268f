// The file is one record of fixed size, which is overwritten in place. The record lies inside one sector, so neither a
// kill nor a power loss tears it. It needs no new space, so a full disk does not stop a fence that exists (a temporary
// file and a rename would need space for every token). And the file stays the same one, so it can be flock()ed itself.
// Only a new file is created under another name and linked when it is complete. So a file that is empty or does not
// match its checksum is damaged; it is never a fence that is still being created.
//
// Every call opens the file again, because flock() belongs to an open file description: threads and forked children
// that shared one would not exclude each other.
//
// A token counts as durable when this object itself has synced it. One that was found in the file may come from a
// process that was killed before it had, and would be forgotten by a power loss.

#include "holdfast/file_fence.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "holdfast/error.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view magic = "holdfast-fence 1 ";
constexpr std::size_t digits = 20;
constexpr std::size_t record_size = magic.size() + digits + 1 + digits + 1;  // token, space, checksum, line feed

/// FNV-1a: against damage, not against malice.
std::uint64_t checksum_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string padded(std::uint64_t number) {
  const std::string text = std::to_string(number);
  return std::string(digits - text.size(), '0') + text;
}

std::string record_of(Token token) {
  const std::string text = std::string(magic) + padded(token.value()) + ' ';
  return text + padded(checksum_of(text)) + '\n';
}

[[noreturn]] void fail(int error, const std::string& tried, const std::filesystem::path& path) {
  const std::string what =
      "cannot " + tried + " the fence '" + path.string() + "' (" + std::generic_category().message(error) + ")";
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      throw Error(Errc::access_denied,
                  what + "; this user needs permission to write the file and, to create it, its directory");
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: throw Error(Errc::exhausted, what + "; free some space, descriptors or memory and try again");
    default: throw Error(Errc::store_failed, what);
  }
}

/// A descriptor. It unlocks explicitly, because a child that was forked in the meantime has a copy, which would keep the
/// lock. If such a child destroys its copy, it must leave the parent's lock alone.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ < 0) return;
    if (locked_by_ == getpid()) flock(descriptor_, LOCK_UN);
    close(descriptor_);
  }
  File(File&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), locked_by_(std::exchange(other.locked_by_, 0)) {}
  File& operator=(File&&) = delete;

  int get() const { return descriptor_; }

  void lock(int operation, std::chrono::milliseconds patience, const std::filesystem::path& path) {
    const auto start = std::chrono::steady_clock::now();
    for (std::chrono::microseconds pause = 50us;; pause = std::min<std::chrono::microseconds>(2 * pause, 5ms)) {
      if (flock(descriptor_, operation | LOCK_NB) == 0) break;
      if (errno != EWOULDBLOCK && errno != EINTR) fail(errno, "lock", path);
      if (std::chrono::steady_clock::now() - start >= patience) {
        throw Error(Errc::unreachable, "another writer keeps the fence '" + path.string() +
                                           "' locked; if its process is stopped, resume it or end it");
      }
      std::this_thread::sleep_for(pause);
    }
    locked_by_ = getpid();
  }

 private:
  int descriptor_;
  pid_t locked_by_ = 0;
};

void sync_directory_of(const std::filesystem::path& path) {
  const File directory(open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) fail(errno, "open the directory of", path);
  if (fsync(directory.get()) != 0 && errno != EINVAL) fail(errno, "sync the directory of", path);
}

void write_record(const File& file, Token token, const std::filesystem::path& path) {
  const std::string record = record_of(token);
  const ssize_t written = pwrite(file.get(), record.data(), record.size(), 0);
  if (written < 0) fail(errno, "write", path);
  if (static_cast<std::size_t>(written) != record.size()) fail(ENOSPC, "write", path);
  if (fdatasync(file.get()) != 0) fail(errno, "sync", path);
}

Token read_record(const File& file, const std::filesystem::path& path) {
  std::array<char, record_size + 1> buffer{};
  const ssize_t size = pread(file.get(), buffer.data(), buffer.size(), 0);
  if (size < 0) fail(errno, "read", path);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
  std::uint64_t value = 0;
  if (text.size() == record_size) std::from_chars(&text[magic.size()], &text[magic.size() + digits], value);
  if (text != record_of(Token(value))) {
    throw Error(Errc::store_failed,
                "the fence '" + path.string() +
                    "' is damaged, so nobody is admitted; make sure that no old holder is left, then delete it");
  }
  return Token(value);
}

/// Creates a complete fence that has admitted nobody yet, unless somebody else creates it at the same time.
void create(const std::filesystem::path& path) {
  std::string temporary = path.string() + ".XXXXXX";
  const File file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.get() < 0) fail(errno, "create", path);
  int error = 0;
  try {
    write_record(file, Token(), path);
    if (link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST) error = errno;
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  unlink(temporary.c_str());
  if (error != 0) fail(error, "create", path);
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw Error(Errc::access_denied, "the fence '" + path.string() + "' cannot be trusted, because " + why +
                                       "; keep it in a directory that only its writers may write to");
}

/// Whether strangers may put something under the fence's name.
bool is_in_a_directory_of_everybody(const std::filesystem::path& path) {
  struct stat directory{};
  return stat(path.parent_path().c_str(), &directory) == 0 && (directory.st_mode & S_IWOTH) != 0;
}

/// The descriptor is negative if there is no file. A file that a stranger may have put there, or may write to, is refused,
/// because a stranger could reset the token. A stranger's pipe makes nobody wait.
File open_existing(const std::filesystem::path& path, int access) {
  const bool among_strangers = is_in_a_directory_of_everybody(path);
  File file(open(path.c_str(), access | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (among_strangers ? O_NOFOLLOW : 0)));
  if (file.get() < 0) {
    if (errno == ELOOP && among_strangers) refuse(path, "it is a link in a directory that everybody may write to");
    if (errno != ENOENT) fail(errno, "open", path);
    return file;
  }
  struct stat found{};
  if (fstat(file.get(), &found) != 0) fail(errno, "inspect", path);
  if (!S_ISREG(found.st_mode)) refuse(path, "it is not a regular file");
  if ((found.st_mode & S_IWOTH) != 0) refuse(path, "everybody may write to it");
  if (among_strangers && found.st_uid != geteuid() && found.st_uid != 0) {
    refuse(path, "it belongs to somebody else and is in a directory that everybody may write to");
  }
  return file;
}

File open_or_create(const std::filesystem::path& path) {
  File file = open_existing(path, O_RDWR);
  if (file.get() >= 0) return file;
  create(path);
  File created = open_existing(path, O_RDWR);
  if (created.get() < 0) fail(ENOENT, "open", path);
  return created;
}

}  // namespace

FileFence::FileFence(const std::filesystem::path& path, std::chrono::milliseconds patience)
    : path_(std::filesystem::absolute(path)), patience_(patience) {}

bool FileFence::write(Token token, MoveOnlyFunction<void()> write) {
  File file = open_or_create(path_);
  file.lock(LOCK_EX, patience_, path_);
  const Token largest = read_record(file, path_);
  if (token < largest) return false;
  const std::uint64_t durable = durable_.load();
  if (largest < token || durable != token.value()) {
    // Once for each object, because whoever created the file may have been killed before this.
    if (durable == 0) sync_directory_of(path_);
    write_record(file, token, path_);
    durable_ = token.value();
  }
  write();
  return true;
}

bool FileFence::admit(Token token) {
  return write(token, [] {});
}

Token FileFence::largest() const {
  File file = open_existing(path_, O_RDONLY);
  if (file.get() < 0) return {};
  file.lock(LOCK_SH, patience_, path_);
  return read_record(file, path_);
}

}  // namespace holdfast
