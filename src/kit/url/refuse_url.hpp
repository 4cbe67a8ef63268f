#pragma once

#include <string>

#include "holdfast/error.hpp"

namespace holdfast::kit {

/// Throws Error (Errc::bad_url): `the <store> URL <what>`. REQUIRES: `what` repeats nothing of the URL, which may hold a
/// password.
[[noreturn]] inline void refuse_url(const std::string& store, const std::string& what) {
  throw Error(Errc::bad_url, "the " + store + " URL " + what);
}

}  // namespace holdfast::kit
