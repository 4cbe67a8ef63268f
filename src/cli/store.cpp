#include "cli/store.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <vector>

#include "cli/secrets.hpp"
#include "cli/text/output.hpp"
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

/// The first line of a file.
std::string password_in(const std::string& path) {
  std::ifstream file(path);
  std::string password;
  if (!std::getline(file, password)) {
    throw Error(Errc::bad_url, "cannot read a password from " + in_quotes(path) +
                                   "; --password-file names a file that has it in its first line");
  }
  if (password.ends_with('\r')) password.pop_back();
  return password;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Without a password that was not given as a flag or in the URL.
Store named_store(const StoreFlags& flags) {
  if (flags.url && flags.url->empty()) throw Error(Errc::bad_url, "--url is empty; name a store, or leave it out");
  if (flags.url) return {.url = *flags.url};
  if (std::string url = variable("HOLDFAST_URL"); !url.empty()) return {.url = std::move(url)};
  const uid_t user = ::geteuid();
  const std::string file = default_file_of(user, user == 0 ? "" : home_of(user));
  return {.url = "sqlite:" + file, .default_file = file};
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

Store choose_store(const StoreFlags& flags) {
  Store store = named_store(flags);
  const std::string password = variable("HOLDFAST_PASSWORD");
  // The environment is memory of this process, too, whether its password is used or not.
  if (flags.password_file || !password.empty()) keep_memory_private();
  if (flags.password_file) {
    store.url = with_password(store.url, password_in(*flags.password_file));
  } else if (!password.empty() && can_have_password(store.url) && without_password(store.url) == store.url) {
    store.url = with_password(store.url, password);
  }
  if (without_password(store.url) != store.url) keep_memory_private();
  return store;
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

Client open_client(const Store& store, ClientOptions options) {
  prepare(store);
  // What was held is given back before, and its answer awaited. What is left is a place in a line, or what a server
  // that does not answer may have heard: nobody waits for that.
  options.close_timeout = std::chrono::milliseconds(100);
  return Client(store.url, std::move(options));
}

void tell_if_default(const Store& store) {
  if (store.default_file.empty()) return;
  tell("using " + printable(store.default_file) + ", which serves one user on one host (--url names another store)");
}

}  // namespace holdfast::cli
