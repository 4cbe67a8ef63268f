#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// Rows of text under headings, as wide as their widest cell; the last column is not padded. Cells must be printable().
///
///     Table table({"NAME", "HOLDER"});
///     table.add({"report", "web1:4711"});
///     print(table.text());
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  /// REQUIRES: as many cells as headings.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;  ///< the first: headings
};

}  // namespace holdfast::cli
