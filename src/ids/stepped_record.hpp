#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/name.hpp"

namespace holdfast::ids {

/// What a store has been told about its part in a Stepped. The numbers v = 1, 2, ... of its row are the ids
/// `base + (v - 1) * stores + index + 1`.
///
///     proposed   it was told, and perhaps not all others were: nobody uses it
///     open       all have been told
///     retired    others have taken its place
///
/// Each change of the number of stores is a new epoch, with rows of its own that begin above all ids of those before.
/// So a process that still believes in the old number finds a closed row, and never misreads a new one.
struct SteppedRecord {
  enum class State { proposed, open, retired };

  std::uint64_t epoch = 1;
  std::uint32_t stores = 1;
  std::uint32_t index = 0;
  std::uint64_t base = 0;
  std::string set = {};  ///< random; the same in all stores that were told together
  State state = State::proposed;

  std::uint64_t id_of(std::int64_t number) const noexcept {
    return base + static_cast<std::uint64_t>(number - 1) * stores + index + 1;
  }
  /// The largest number whose id is not larger than `last`. 0: there is none.
  std::int64_t last_number(std::uint64_t last) const noexcept;

  friend bool operator==(const SteppedRecord&, const SteppedRecord&) = default;
};

std::string to_text(const SteppedRecord& record);
std::optional<SteppedRecord> stepped_record_in(std::string_view text);

// The registers of a Stepped.

LockName record_register(const LockName& name);
LockName row_register(const LockName& name, std::uint64_t epoch);
/// In the store after the row's.
LockName witness_register(const LockName& name, std::uint64_t epoch, std::uint32_t index);

/// What a closed row contains: nobody can add to it, and how far it came is remembered.
std::string closed_row(std::int64_t number);
/// How far a row has come, open or closed. Empty if it is something else.
std::optional<std::int64_t> number_of_row(std::string_view text);

}  // namespace holdfast::ids
