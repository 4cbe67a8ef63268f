#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::fuzz {

/// What became of a store that was damaged while a client held locks in it.
struct Outcome {
  std::size_t refused = 0;       ///< steps that ended in an error which says what is wrong
  std::size_t worked = 0;        ///< steps that were answered
  std::size_t wrong_grants = 0;  ///< of what the other client holds
};

/// A large store is not checked as a whole when it is opened; only what is read is checked (docs/backends/sqlite.md).
enum class StoreSize { small, large };

/// Lets a second client open, list, try to lock, release and read registers while the files of the store are damaged
/// under a first one, which then renews and releases. `damages`: one byte that chooses between what is in the database
/// and what is still in the log, then five for each damage, see the source.
Outcome play_with_damages(std::string_view damages, StoreSize size);

}  // namespace holdfast::fuzz
