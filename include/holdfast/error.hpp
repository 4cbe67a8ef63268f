#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

#include "holdfast/export.hpp"

namespace holdfast {

/// The reason of a failure. `busy` and `timed_out` are never thrown as exceptions: synchronous calls return them as
/// results.
enum class Errc {
  busy = 1,          ///< somebody else holds the lock, and the caller did not want to wait
  timed_out,         ///< the caller's time limit passed while it waited
  cancelled,         ///< the caller's stop_token was triggered
  lost,              ///< the hold is gone: its lease ended, or an operator took the lock away
  not_held,          ///< the caller has released it already, or never held it
  in_doubt,          ///< the request was sent but not answered: it may or may not have been executed
  unreachable,       ///< the store could not be reached, so the request was not executed
  access_denied,     ///< the store refused the credentials or the permission
  exhausted,         ///< out of memory, disk, descriptors or connections, or a pool of worker numbers is used up
  closed,            ///< the client was closed
  forked,            ///< the client belongs to the parent process; a forked child owns nothing
  invalid_argument,  ///< a name, a duration, a count or an option is invalid
  bad_url,           ///< the store's URL is malformed, or names a directory that does not exist
  unsupported,       ///< this store does not support the request (see StoreTraits)
  too_deep,          ///< a recursive mutex was locked too many times
  store_failed,      ///< the store reported an error that has no name of its own here
  end_of_life,       ///< the format of the ids has no number left, and never will have one again
  wrong_clock,       ///< this host's clock is too far ahead of the store's to make ids from it
};

/// What a caller can do about an error. Compare an `error_code` with these:
///
///     if (error.code() == holdfast::Condition::retry) try_again_later();
enum class Condition {
  retry = 1,          ///< nothing was changed; the same call may succeed later
  lost,               ///< stop working on what the lock protects
  in_doubt,           ///< find out before you act: the request may have been executed
  fix_configuration,  ///< somebody must change a URL, a credential or a server
  fix_call,           ///< the program must be changed: it passed something invalid
};

HOLDFAST_EXPORT const std::error_category& error_category() noexcept;
HOLDFAST_EXPORT const std::error_category& condition_category() noexcept;

inline std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }
inline std::error_condition make_error_condition(Condition condition) noexcept {
  return {static_cast<int>(condition), condition_category()};
}

/// The exception of all synchronous calls. `what()` says what was attempted, on which store, and what to do about it.
/// It never contains a secret.
class HOLDFAST_EXPORT Error : public std::system_error {
 public:
  /// If `what_happened` is empty, what() returns the text of the code.
  Error(Errc code, const std::string& what_happened);
  Errc errc() const noexcept { return static_cast<Errc>(code().value()); }
  /// Only what happened. std::system_error would append the text of the code, which says nothing new.
  const char* what() const noexcept override { return what_happened_.what(); }

 private:
  std::runtime_error what_happened_;  ///< copied without throwing, as exceptions must be
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::Errc> : std::true_type {};
template <>
struct std::is_error_condition_enum<holdfast::Condition> : std::true_type {};
