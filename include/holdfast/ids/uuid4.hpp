#pragma once

#include <span>

#include "holdfast/export.hpp"
#include "holdfast/ids/randomness.hpp"
#include "holdfast/ids/traits.hpp"
#include "holdfast/ids/uuid.hpp"

namespace holdfast::ids {

/// Makes UUIDs of version 4: 122 random bits. They carry no time and have no order.
///
///     Uuid4 ids;
///     const Uuid id = ids.next();
///
/// All functions may be called by several threads at once, and by a forked child; none blocks, needs a store, or
/// allocates memory, but for about 4 KB in the first call of a thread. They must not be called by a signal handler.
class HOLDFAST_EXPORT Uuid4 {
 public:
  explicit Uuid4(Randomness randomness = Randomness::secure) noexcept : randomness_(randomness) {}

  /// Throws Errc::exhausted if the kernel has no memory or no random numbers.
  Uuid next();
  /// Fills all of `ids`, faster than one by one. Throws as next() does.
  void fill(std::span<Uuid> ids);

  static Traits traits() noexcept;

 private:
  Randomness randomness_;
};

}  // namespace holdfast::ids
