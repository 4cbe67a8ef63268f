#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// Making texts fit a screen. Widths are columns, as width() counts them; texts must be printable().

/// The text, or its beginning and an ellipsis if it is wider.
std::string cut(std::string_view text, std::size_t columns);
/// The same, filled up with blanks to exactly so many columns.
std::string fitted(std::string_view text, std::size_t columns);

/// A column of a table that may have to shrink.
struct FlexibleColumn {
  std::size_t width = 0;  ///< what its cells would like
  std::size_t least = 0;  ///< narrower, it is of no use
  int firmness = 0;       ///< those with the smallest are cut first, down to what is least
  int rank = 0;           ///< when there is no room for all, those with the smallest are left out
};

/// The widths that `columns` get, in their order, if all of them and a gap between each two shall fit into `room`; 0
/// for a column that is left out. Of columns that are equally firm, wider ones give more.
std::vector<std::size_t> fit(std::vector<FlexibleColumn> columns, std::size_t gap, std::size_t room);

}  // namespace holdfast::cli
