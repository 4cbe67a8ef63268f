#include "cli/top/fitting.hpp"

#include <algorithm>

#include "cli/text/characters.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

/// How many bytes of `text` fit into so many columns, in whole characters with the marks that belong to them.
std::size_t length_of(std::string_view text, std::size_t columns) {
  std::size_t length = 0;
  while (length < text.size()) {
    const Character next = first_character(text.substr(length));
    const std::size_t wanted = columns_of(next.code);
    if (wanted > columns) break;
    columns -= wanted;
    length += std::max<std::size_t>(next.bytes, 1);
  }
  return length;
}

std::size_t sum(const std::vector<FlexibleColumn>& columns, std::size_t gap, std::size_t FlexibleColumn::* member) {
  std::size_t total = 0;
  std::size_t shown = 0;
  for (const FlexibleColumn& column : columns) {
    total += column.*member;
    if (column.width > 0) ++shown;
  }
  return total + (shown > 1 ? (shown - 1) * gap : 0);
}

/// Whoever is to give a column's width next: the least firm, of these the widest.
FlexibleColumn& next_to_shrink(std::vector<FlexibleColumn>& columns) {
  return *std::max_element(columns.begin(), columns.end(), [](const FlexibleColumn& one, const FlexibleColumn& other) {
    const bool one_can = one.width > one.least;
    const bool other_can = other.width > other.least;
    if (one_can != other_can) return other_can;
    if (one.firmness != other.firmness) return other.firmness < one.firmness;
    return one.width < other.width;
  });
}

void drop_least_important(std::vector<FlexibleColumn>& columns) {
  *std::min_element(columns.begin(), columns.end(), [](const FlexibleColumn& one, const FlexibleColumn& other) {
    const bool one_is_shown = one.width > 0;
    const bool other_is_shown = other.width > 0;
    return one_is_shown != other_is_shown ? one_is_shown : one.rank < other.rank;
  }) = {};
}

}  // namespace

std::string cut(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, length_of(text, columns - 1))) + "…";
}

std::string fitted(std::string_view text, std::size_t columns) {
  std::string line = cut(text, columns);
  line.append(columns - width(line), ' ');
  return line;
}

std::vector<std::size_t> fit(std::vector<FlexibleColumn> columns, std::size_t gap, std::size_t room) {
  while (sum(columns, gap, &FlexibleColumn::least) > room && sum(columns, 0, &FlexibleColumn::width) > 0) {
    drop_least_important(columns);
  }
  while (sum(columns, gap, &FlexibleColumn::width) > room) --next_to_shrink(columns).width;
  std::vector<std::size_t> widths;
  widths.reserve(columns.size());
  for (const FlexibleColumn& column : columns) widths.push_back(column.width);
  return widths;
}

}  // namespace holdfast::cli
