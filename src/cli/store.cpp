#include "cli/store.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "cli/output.hpp"
#include "holdfast/error.hpp"

namespace holdfast::cli {
namespace {

std::string home_of(uid_t user) {
  std::vector<char> buffer(std::size_t{16} * 1024);
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr && found->pw_dir != nullptr ? found->pw_dir : "";
}

}  // namespace

std::string default_file_of(uid_t user, const std::string& home) {
  if (user == 0) return "/var/lib/holdfast/locks.db";
  if (home.empty() || home.front() != '/') {
    throw Error(Errc::bad_url, "no store was named, and user " + std::to_string(user) +
                                   " has no home in the password database to keep one in; give --url or set "
                                   "HOLDFAST_URL, for example to sqlite:/path/locks.db");
  }
  return home + (home.ends_with('/') ? "" : "/") + ".local/state/holdfast/locks.db";
}

Store choose_store(const std::optional<std::string>& url) {
  if (url && url->empty()) throw Error(Errc::bad_url, "--url is empty; name a store, or leave it out");
  if (url) return {.url = *url};
  const char* const from_environment = std::getenv("HOLDFAST_URL");
  if (from_environment != nullptr && *from_environment != '\0') return {.url = from_environment};
  const uid_t user = ::geteuid();
  const std::string file = default_file_of(user, user == 0 ? "" : home_of(user));
  return {.url = "sqlite:" + file, .default_file = file};
}

void prepare(const Store& store) {
  // By hand instead of std::filesystem: what is new must be for its owner only from the first moment.
  const std::string& file = store.default_file;
  for (std::size_t slash = file.find('/', 1); slash != std::string::npos; slash = file.find('/', slash + 1)) {
    const std::string folder = file.substr(0, slash);
    if (::mkdir(folder.c_str(), S_IRWXU) == 0 || errno == EEXIST) continue;
    const Errc code = errno == ENOSPC ? Errc::exhausted : Errc::access_denied;
    throw Error(code, "cannot create the folder " + in_quotes(folder) + " of the default store (" +
                          std::generic_category().message(errno) + "); give --url or set HOLDFAST_URL");
  }
}

void tell_if_default(const Store& store) {
  if (store.default_file.empty()) return;
  tell("using " + printable(store.default_file) + ", which serves one user on one host (--url names another store)");
}

}  // namespace holdfast::cli
