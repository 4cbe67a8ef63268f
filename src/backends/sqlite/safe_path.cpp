#include "backends/sqlite/safe_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

constexpr int most_links = 40;  // as the kernel's own limit

bool is_trusted(uid_t owner) { return owner == ::geteuid() || owner == 0; }

/// Members of this user's own group count as this user: many systems give each user a group of its own, and let new
/// directories be writable for it.
bool others_may_write(const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return true;
  return (status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid();
}

std::string belongs_to(const std::string& path, uid_t owner) {
  return "'" + path + "' belongs to user " + std::to_string(owner) + ", and this process is user " +
         std::to_string(::geteuid());
}

std::string target_of(const std::string& link) {
  std::array<char, PATH_MAX> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): about to be written
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  if (size < 0) refuse(errno, "cannot read the symbolic link '" + link + "'");
  return {buffer.data(), static_cast<std::size_t>(size)};
}

bool make_file(const std::string& path) {
  // Not with open(): closing a descriptor of a file that SQLite has open in this process would drop SQLite's locks.
  if (::mknod(path.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0) == 0) return true;
  if (errno != EEXIST) refuse(errno, "cannot create the file '" + path + "'");
  return false;
}

/// False if it is not there.
bool check_file(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return false;
    refuse(errno, "cannot look at '" + path + "'");
  }
  if (!S_ISREG(status.st_mode)) {
    throw Refusal(Errc::store_failed, "'" + path + "' is not a file; choose another path for the sqlite: store");
  }
  if (status.st_uid != ::geteuid()) {
    throw Refusal(Errc::access_denied, belongs_to(path, status.st_uid) +
                                           "; a sqlite: store serves one user: use another path, or a store with a "
                                           "server");
  }
  if (others_may_write(status)) {
    throw Refusal(Errc::access_denied, "other users may write to '" + path +
                                           "', which belongs to a sqlite: store; take that permission away (chmod "
                                           "go-w), and make sure that nobody has used it");
  }
  if (status.st_nlink > 1) {
    throw Refusal(Errc::store_failed, "'" + path +
                                          "' has more than one name (hard links), so its users would not meet; "
                                          "remove the other names");
  }
  return true;
}

[[noreturn]] void refuse_missing(const std::string& missing, bool is_last) {
  if (is_last) {
    throw Refusal(Errc::store_failed, "'" + missing +
                                          "' does not exist, and a symbolic link leads there; remove the link, or "
                                          "choose another path for the sqlite: store");
  }
  throw Refusal(Errc::bad_url, "the directory '" + missing +
                                   "' does not exist; correct the path of the sqlite: store, or create the directory");
}

}  // namespace

std::string resolve(const std::string& path) {
  std::string done;         // without links
  std::string left = path;  // to be walked
  int links = 0;
  bool at_end_of_link = false;
  while (!left.empty()) {
    const auto slash = left.find('/');
    const std::string component = left.substr(0, slash);
    left = slash == std::string::npos ? "" : left.substr(slash + 1);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      done.erase(done.empty() ? 0 : done.rfind('/'));
      continue;
    }
    const std::string next = done + "/" + component;  // NOLINT(performance-inefficient-string-concatenation): short
    struct stat status{};
    if (::lstat(next.c_str(), &status) != 0) {
      if (errno == ENOTDIR) {
        throw Refusal(Errc::store_failed,
                      "'" + done + "' is not a directory; choose another path for the sqlite: store");
      }
      if (errno != ENOENT) refuse(errno, "cannot look at '" + next + "'");
      if (!left.empty() || at_end_of_link) refuse_missing(next, left.empty());
      return next;
    }
    if (!S_ISLNK(status.st_mode)) {
      done = next;
      continue;
    }
    if (!is_trusted(status.st_uid)) {
      throw Refusal(Errc::access_denied, "the symbolic link " + belongs_to(next, status.st_uid) +
                                             "; somebody else must not choose where a sqlite: store lies");
    }
    if (++links > most_links) refuse(ELOOP, "cannot find '" + path + "'");
    const std::string target = target_of(next);
    if (target.starts_with('/')) done.clear();
    if (left.empty()) at_end_of_link = true;
    left = left.empty() ? target : target + "/" + left;  // NOLINT(performance-inefficient-string-concatenation): short
  }
  return done.empty() ? "/" : done;
}

void check_directory(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) refuse(errno, "cannot look at the directory '" + path + "'");
  if (!is_trusted(status.st_uid)) {
    throw Refusal(Errc::access_denied,
                  "the directory " + belongs_to(path, status.st_uid) +
                      "; its owner could replace the files of a sqlite: store: use a directory of your own");
  }
  if (others_may_write(status) && (status.st_mode & S_ISVTX) == 0) {
    throw Refusal(Errc::access_denied, "other users may write to the directory '" + path +
                                           "' and could replace the files of a sqlite: store; take that permission "
                                           "away (chmod go-w), or use a directory of your own");
  }
}

bool make_own_file(const std::string& path) {
  // SQLite in another process may be removing a rollback journal just now.
  constexpr int attempts = 1000;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const bool made = make_file(path);
    if (check_file(path)) return made;
  }
  refuse(ENOENT, "somebody removes the file '" + path + "' again and again");
}

}  // namespace holdfast::sqlite
