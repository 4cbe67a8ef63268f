#pragma once

#include <string>
#include <vector>

namespace holdfast::fencing {

/// What this process syncs, by file name: its fsync() and fdatasync() are ours. Not for several threads.
class Syncs {
 public:
  /// The names since the last call.
  static std::vector<std::string> take();
  /// From now on every sync fails with this error; 0: they work again.
  static void fail_with(int error);
};

}  // namespace holdfast::fencing
