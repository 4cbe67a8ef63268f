#include "backends/sqlite/failures.hpp"

#include <cerrno>
#include <system_error>

namespace holdfast::sqlite {

Errc meaning_of(int system_error) {
  switch (system_error) {
    case EACCES:
    case EPERM:
    case EROFS: return Errc::access_denied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Errc::exhausted;
    default: return Errc::store_failed;
  }
}

void refuse(int system_error, const std::string& what) {
  const Errc code = meaning_of(system_error);
  const char* advice =
      code == Errc::access_denied ? "; a sqlite: store must be able to write its file and its directory" : "";
  throw Refusal(code, what + ": " + std::generic_category().message(system_error) + advice);
}

spi::Failure locked_by_another(const std::string& path) {
  return {Errc::unreachable, "another process keeps the database '" + path +
                                 "' locked for writing; if that process is stopped, resume or kill it"};
}

spi::Failure explain(const SqlFailure& failure, const std::string& path, bool committing) {
  if (failure.busy()) return locked_by_another(path);
  const std::string file = "'" + path + "'";
  std::string reason = failure.what();
  if (failure.system_error() != 0) reason += " (" + std::generic_category().message(failure.system_error()) + ")";
  switch (failure.code() & 0xff) {
    case SQLITE_FULL: return {Errc::exhausted, "the disk of " + file + " is full: free some space on it"};
    case SQLITE_NOMEM: return {Errc::exhausted, "there is not enough memory to use the database " + file};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Errc::access_denied, "cannot write the database " + file + ": " + reason +
                                       "; its user must be able to write the file and its directory"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Errc::store_failed, "the database " + file + " is damaged: " + reason +
                                      "; stop everything that uses it, move it away with the files beside it, and "
                                      "start again: it is made anew, and locks and registers in it are lost"};
    default: break;
  }
  const Errc code = meaning_of(failure.system_error());
  if (code != Errc::store_failed) return {code, "cannot use the database " + file + ": " + reason};
  if (committing) return {Errc::in_doubt, "cannot tell whether " + file + " was written: " + reason};
  return {Errc::store_failed, "cannot use the database " + file + ": " + reason};
}

}  // namespace holdfast::sqlite
