#pragma once

#include <cstdint>
#include <string>

#include "holdfast/name.hpp"
#include "spi/result.hpp"

namespace holdfast::spi {

/// A value with a version. Version 0: it was never written, and the value is empty.
struct Versioned {
  std::string value = {};
  std::uint64_t version = 0;
};

/// Named values with versions, apart from the locks of the same names. Durable before they answer. Every request but
/// watch() is answered within longest_patience, or fails then. Where traits say that the store has no registers, nothing
/// is asked of it.
class Registers {
 public:
  virtual ~Registers() = default;

  virtual void read(const LockName& name, Done<Versioned> done) = 0;

  /// Writes if the version still is `expected` (0: if it was never written). Answers what the register holds
  /// afterwards: the new version if written, else the value that was in the way.
  struct WriteAnswer {
    bool written = false;
    Versioned now = {};
  };
  virtual void write_if(const LockName& name, std::uint64_t expected, std::string value, Done<WriteAnswer> done) = 0;

  /// Adds to a decimal number (0 if never written) and answers the sum. Errc::invalid_argument if the value is not a
  /// number or the sum does not fit.
  virtual void add(const LockName& name, std::int64_t amount, Done<std::int64_t> done) = 0;

  /// Answers when the version is no longer `seen`, or after a while in any case: read again to know.
  virtual void watch(const LockName& name, std::uint64_t seen, Done<> done) = 0;
};

}  // namespace holdfast::spi
