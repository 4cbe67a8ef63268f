#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include "holdfast/export.hpp"

namespace holdfast {

/// What went wrong. `busy` and `timed_out` never arrive as exceptions: they are results.
enum class Errc {
  busy = 1,          ///< somebody else holds it, and the caller did not want to wait
  timed_out,         ///< the caller's deadline passed while waiting
  cancelled,         ///< the caller's stop_token was triggered
  lost,              ///< the hold is gone: its lease ended, or an operator broke it
  not_held,          ///< released already, or never held by the caller
  in_doubt,          ///< the request was sent and never answered: it may or may not have happened
  unreachable,       ///< the store could not be reached; the request did not happen
  access_denied,     ///< the store refused the credentials or the permission
  exhausted,         ///< the store or this process has run out of memory, disk, descriptors or connections
  closed,            ///< the client was closed
  forked,            ///< the client belongs to the parent process; a forked child owns nothing
  invalid_argument,  ///< a name, a duration or a count is not acceptable
  bad_url,           ///< the store's URL cannot be understood, or names a directory that does not exist
  unsupported,       ///< this store cannot do what was asked; its traits say so
  too_deep,          ///< a recursive mutex was locked too many times
  store_failed,      ///< the store answered with an error that has no better name here
};

/// What to do about it: compare an `error_code` with these.
///
///     if (error.code() == holdfast::Condition::retry) try_again_later();
enum class Condition {
  retry = 1,          ///< nothing happened; the same call may succeed later
  lost,               ///< stop working on what the lock protects
  in_doubt,           ///< find out before acting: it may have happened
  fix_configuration,  ///< a person must change a URL, a credential or a server
  fix_call,           ///< the program passed something it must not
};

HOLDFAST_EXPORT const std::error_category& error_category() noexcept;
HOLDFAST_EXPORT const std::error_category& condition_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }
inline std::error_condition make_error_condition(Condition condition) noexcept {
  return {static_cast<int>(condition), condition_category()};
}

/// Thrown by synchronous calls. `what()` says what was tried, on which store, and what to do; never a secret.
class HOLDFAST_EXPORT Error : public std::system_error {
 public:
  /// If `what_happened` is empty, what() is the text of the code.
  Error(Errc code, const std::string& what_happened);
  Errc errc() const noexcept { return static_cast<Errc>(code().value()); }
  /// Just what happened: the text of the code, which std::system_error would append, only says it again.
  const char* what() const noexcept override { return what_happened_.what(); }

 private:
  std::runtime_error what_happened_;  ///< copied without throwing, as exceptions must be
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::Errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<holdfast::Condition> : std::true_type {};
