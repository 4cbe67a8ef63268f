#pragma once

#include <string>
#include <vector>

#include "holdfast/token.hpp"

namespace holdfast::fencing {

/// A resource with a guard in front of it, as the cases see it. Thread-safe.
class Guarded {
 public:
  Guarded() = default;
  virtual ~Guarded() = default;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// False: refused. Throws when the guard gives no answer.
  virtual bool write(Token token, const std::string& value) = 0;
  /// What was written last; empty at first.
  virtual std::string value() = 0;
};

/// What is wrong with it; nothing if it is right.
using Complaints = std::vector<std::string>;

/// One writer after the other: rising tokens, equal ones, older ones; across the limits of 31, 53 and 63 bits, and
/// where the number of digits changes. Needs a fresh resource.
Complaints complaints_about_order(Guarded& guarded);

/// Several writers at once: what was admitted is never replaced by something older. Needs a fresh resource.
Complaints complaints_about_races(Guarded& guarded, int writes_per_thread);

}  // namespace holdfast::fencing
