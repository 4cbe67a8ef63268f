#include "cli/text/table.hpp"

#include <algorithm>

#include "cli/text/output.hpp"

namespace holdfast::cli {

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width(row[i]) + 2, ' ');
    }
    text += (&row == &rows_.front() ? heading(line) : line) + "\n";
  }
  return text;
}

}  // namespace holdfast::cli
