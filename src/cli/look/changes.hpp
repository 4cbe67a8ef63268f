#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "cli/look/break_marks.hpp"
#include "holdfast/status.hpp"

namespace holdfast::cli {

/// What is different between two looks at a store, as far as looks can tell: what began and ended between them is not
/// seen, nor why somebody released a lock, unless the tool broke the lock.
///
/// | kind       | somebody ...                                                                                      |
/// |------------|---------------------------------------------------------------------------------------------------|
/// | `held`     | held it already at the first look                                                                 |
/// | `acquired` | holds it now                                                                                      |
/// | `released` | holds it no longer: gave it back                                                                  |
/// | `broken`   | holds it no longer: an operator took it away                                                      |
/// | `expired`  | holds it no longer, and the lease that was last seen was over by now: it was not renewed          |
/// | `waiting`  | waits for it now                                                                                  |
/// | `left`     | waits no longer, and does not hold it: gave up, or held it for a moment between the looks         |
struct Change {
  enum class Kind { held, acquired, released, broken, expired, waiting, left };

  Kind kind = Kind::held;
  std::string name = {};
  LockKind lock_kind = LockKind::lock;
  ClaimStatus claim = {};  ///< as it was last seen
};

/// The kind, as people and scripts see it.
std::string_view word_for(Change::Kind kind);

/// What a first look finds: `held` and `waiting`.
std::vector<Change> present(const std::vector<LockStatus>& locks);

/// What is different from one look to a later one, lock by lock; of one lock, ends before beginnings. `elapsed` is the
/// time between them; if that is more than a second, leases may have been renewed meanwhile, and nothing is called
/// expired. `marks` were read after the later look.
std::vector<Change> changes_between(const std::vector<LockStatus>& from, const std::vector<LockStatus>& to,
                                    std::chrono::milliseconds elapsed, const std::vector<BreakMark>& marks = {});

}  // namespace holdfast::cli
