#pragma once

#include <string>

namespace holdfast::cli {

/// One line of a description, its value in the same column as that of all others: `token:      768`. The value must be
/// printable(). REQUIRES: a name of at most 11 bytes.
inline std::string field(const std::string& name, const std::string& value) {
  constexpr std::size_t column = 11;
  return name + ":" + std::string(column - name.size(), ' ') + value + "\n";
}

}  // namespace holdfast::cli
