#pragma once

#include <string>

#include "base/instant.hpp"

namespace holdfast::sqlite {

/// What a store needs to know of the machine. Tests pretend to be another one.
struct Machine {
  /// Changes with every boot: leases of another boot are over.
  std::string boot_id = {};
  /// Time since that boot: the same for all processes, and never set.
  base::Instant (*now)() = &base::BootClock::now;

  /// Throws Refusal (Errc::unsupported) where that cannot be known.
  static Machine real();
};

}  // namespace holdfast::sqlite
