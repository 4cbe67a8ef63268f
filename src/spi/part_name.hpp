#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "holdfast/name.hpp"

namespace holdfast::spi {

/// Names that no user can give: those of the parts from which elections, barriers and the like of a user's name are
/// made. The part follows the name behind a NUL, which no user's name contains; so part and name sort together, a
/// prefix of one is a prefix of the other, and what has the same name but is another thing never meets. To a store they
/// are names like all others, of at most max_bytes.
struct PartName {
  static constexpr std::size_t max_part_bytes = 31;
  static constexpr std::size_t max_bytes = LockName::max_bytes + 1 + max_part_bytes;

  /// REQUIRES: `part` has 1 to max_part_bytes characters.
  static LockName of(const LockName& name, std::string_view part) {
    return stored(name.text() + '\0' + std::string(part));
  }

  /// A name that a store has kept, of a part or not. REQUIRES: it was a LockName before.
  static LockName stored(std::string text) {
    LockName name;
    name.text_ = std::move(text);
    return name;
  }

  /// For people, who know nothing of parts.
  static std::string shown(const LockName& name) { return std::string(split(name.text()).name); }

  /// What a stored name consists of; the part is empty if it is a user's name.
  struct Split {
    std::string_view name;
    std::string_view part;
  };
  static Split split(std::string_view stored) {
    const std::size_t at = stored.find('\0');
    if (at == std::string_view::npos) return {stored, {}};
    return {stored.substr(0, at), stored.substr(at + 1)};
  }
};

}  // namespace holdfast::spi
