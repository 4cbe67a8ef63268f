#include "cli/exit_code.hpp"

namespace holdfast::cli {

// Complete: a code without a line here does not compile (-Wswitch).
int exit_code_of(Errc code) {
  switch (code) {
    case Errc::busy:
    case Errc::timed_out: return exit_code::busy;
    case Errc::lost: return exit_code::lost;
    case Errc::in_doubt:
    case Errc::unreachable:
    case Errc::exhausted:
    case Errc::store_failed: return exit_code::unavailable;
    case Errc::access_denied: return exit_code::refused;
    case Errc::invalid_argument: return exit_code::usage;
    case Errc::bad_url:
    case Errc::end_of_life:
    case Errc::unsupported:
    case Errc::wrong_clock: return exit_code::configuration;
    case Errc::cancelled:
    case Errc::not_held:
    case Errc::closed:
    case Errc::forked:
    case Errc::too_deep: return exit_code::internal;
  }
  return exit_code::internal;
}

}  // namespace holdfast::cli
