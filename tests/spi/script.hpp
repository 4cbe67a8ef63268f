#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spi/backend_under_test.hpp"

namespace holdfast::spi_suite {

/// One random step of one client. Nothing in it depends on what came before or on time, so that a script is the same
/// for every store. A name has a few claims, each of one mode, that live again and again.
struct Step {
  enum class Kind { acquire, release, renew, downgrade, evict, ask_to_release, resize, list, read, write_if, add };

  static constexpr int clients = 3;
  static constexpr int names = 3;
  static constexpr int claims_per_name = 9;
  static constexpr int of_locks = 6;  ///< the others take permits

  std::size_t client = 0;
  Kind kind = Kind::acquire;
  LockName name = "name";
  int claim = 0;
  AcquireOptions options = {};   ///< acquire
  std::vector<Ref> refs = {};    ///< renew
  LockKind of = LockKind::lock;  ///< evict, ask_to_release
  std::string text = {};         ///< a reason, a prefix, a value
  std::int64_t number = 0;       ///< a version, an amount, a total, hours, how many grants are too new to be evicted

  std::string describe() const;
};

/// What a claim of a script wants.
Mode mode_of(int claim);

std::vector<Step> random_script(std::uint64_t seed, std::size_t steps);

}  // namespace holdfast::spi_suite
