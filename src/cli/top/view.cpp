#include "cli/top/view.hpp"

#include <algorithm>
#include <sstream>

#include "cli/look/lock_details.hpp"
#include "cli/look/lock_row.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"
#include "cli/top/fitting.hpp"
#include "cli/top/help.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::system_clock;
using Style = FrameLine::Style;
using Cells = std::array<std::string, lock_row_headings.size()>;

constexpr std::size_t gap = 2;

std::string counted(std::size_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

/// Two texts at the ends of a line. If there is no room for both the left one is cut, or stands alone.
std::string justified(const std::string& left, const std::string& right, std::size_t columns) {
  constexpr std::size_t least = 16;
  const std::size_t taken = width(right) + 1;
  return columns < taken + least ? left : fitted(left, columns - taken) + " " + right;
}

std::string counts(const TopState& state) {
  std::size_t holders = 0;
  std::size_t waiters = 0;
  for (const LockStatus& lock : state.all()) {
    holders += lock.holders.size();
    waiters += lock.waiters.size();
  }
  return counted(state.all().size(), "lock") + ", " + counted(holders, "holder") + ", " + counted(waiters, "waiter");
}

std::string arrangement(const TopState& state) {
  std::string text;
  if (!state.filter().empty()) {
    text = "only " + in_quotes(state.filter()) + " (" + std::to_string(state.shown().size()) + "), ";
  }
  switch (state.order()) {
    case TopState::Order::name: text += "by name"; break;
    case TopState::Order::since: text += "by age"; break;
    case TopState::Order::ttl: text += "by TTL"; break;
    case TopState::Order::waiters: text += "by waiters"; break;
  }
  return text + (state.reversed() ? ", reversed" : "");
}

void add_header(Frame& frame, const TopState& state, const StoreNews& store, system_clock::time_point now,
                std::size_t columns) {
  frame.push_back({justified("holdfast top  " + store.name, time_of_day(now), columns), Style::title});
  if (store.failure.empty()) {
    frame.push_back({justified(counts(state), arrangement(state), columns)});
  } else {
    const auto old = std::chrono::duration_cast<std::chrono::milliseconds>(now - store.seen);
    frame.push_back({"this is " + human(old) + " old: " + store.failure, Style::warning});
  }
}

std::vector<Cells> cells_of(const TopState& state, system_clock::time_point seen) {
  std::vector<Cells> table;
  for (const LockStatus* lock : state.shown()) {
    LockRow row = row_of(*lock, seen);
    table.push_back({std::move(row.name), std::move(row.mode), std::move(row.holder), std::move(row.age),
                     std::move(row.ttl), std::move(row.token), std::move(row.waiters)});
  }
  return table;
}

std::vector<std::size_t> widths_of(const std::vector<Cells>& table, std::size_t columns) {
  // In the order of the headings. What changes all the time is given room, lest the columns dance.
  std::vector<FlexibleColumn> wanted{
      {.width = 8, .least = 8, .firmness = 1, .rank = 7}, {.width = 4, .least = 4, .firmness = 2, .rank = 2},
      {.width = 8, .least = 8, .firmness = 1, .rank = 6}, {.width = 7, .least = 7, .firmness = 2, .rank = 3},
      {.width = 5, .least = 5, .firmness = 2, .rank = 4}, {.width = 5, .least = 5, .firmness = 0, .rank = 1},
      {.width = 7, .least = 7, .firmness = 2, .rank = 5}};
  for (const Cells& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) wanted[i].width = std::max(wanted[i].width, width(row[i]));
  }
  return fit(std::move(wanted), gap, columns);
}

template <class Row>
std::string line_of(const Row& row, const std::vector<std::size_t>& widths, std::size_t columns) {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (widths[i] == 0) continue;
    if (!line.empty()) line.append(gap, ' ');
    line += fitted(row[i], widths[i]);
  }
  return fitted(line, columns);
}

/// So that the selected line is in the middle, if there are enough lines before and behind it.
std::size_t first_row(const TopState& state, std::size_t rows) {
  const std::size_t count = state.shown().size();
  const std::size_t last = count > rows ? count - rows : 0;
  return std::min(last, state.selected() > rows / 2 ? state.selected() - rows / 2 : 0);
}

void add_list(Frame& frame, const TopState& state, const StoreNews& store, ScreenSize size) {
  const std::vector<Cells> table = cells_of(state, store.seen);
  const std::vector<std::size_t> widths = widths_of(table, size.columns);
  frame.push_back({line_of(lock_row_headings, widths, size.columns), Style::heading});
  const std::size_t rows = rows_of_page(size);
  const std::size_t first = first_row(state, rows);
  for (std::size_t i = first; i < std::min(first + rows, table.size()); ++i) {
    frame.push_back({line_of(table[i], widths, size.columns), i == state.selected() ? Style::selected : Style::plain});
  }
  if (table.empty()) frame.push_back({state.all().empty() ? "no lock is held" : "no name contains the filter"});
}

void add_detail(Frame& frame, const TopState& state, const StoreNews& store, ScreenSize size) {
  frame.push_back({printable(state.detail_name()), Style::heading});
  const LockStatus* const lock = state.detail();
  std::istringstream lines(lock != nullptr ? details_of(*lock, store.seen)
                                           : "free: nobody holds it and nobody waits for it\n");
  std::string line;
  for (std::size_t i = 0; i < state.scrolled(); ++i) std::getline(lines, line);
  for (std::size_t i = 0; i < rows_of_page(size) && std::getline(lines, line); ++i) frame.push_back({line});
}

void add_help(Frame& frame, const TopState& state, ScreenSize size) {
  frame.push_back({"Keys", Style::heading});
  const std::size_t end = std::min(state.scrolled() + rows_of_page(size), top_help.size());
  for (std::size_t i = state.scrolled(); i < end; ++i) frame.push_back({top_help[i]});
}

std::string bottom_line(const TopState& state) {
  switch (state.page()) {
    case TopState::Page::list: return "q quit  ? help  / filter  Enter details  n s t w sort";
    case TopState::Page::filter: return "filter: " + printable(state.filter()) + "_  (Enter: keep it, Esc: show all)";
    case TopState::Page::detail:
    case TopState::Page::help: return "Esc back  up, down scroll";
  }
  return {};
}

}  // namespace

std::size_t rows_of_page(ScreenSize size) {
  constexpr std::size_t others = 4;  // two of the header, the page's heading, the bottom
  return size.rows > others ? size.rows - others : 1;
}

Frame view_of(const TopState& state, const StoreNews& store, system_clock::time_point now, ScreenSize size) {
  Frame frame;
  add_header(frame, state, store, now, size.columns);
  switch (state.page()) {
    case TopState::Page::list:
    case TopState::Page::filter: add_list(frame, state, store, size); break;
    case TopState::Page::detail: add_detail(frame, state, store, size); break;
    case TopState::Page::help: add_help(frame, state, size); break;
  }
  frame.resize(std::max<std::size_t>(size.rows, 1) - 1);
  frame.push_back({bottom_line(state)});
  for (FrameLine& line : frame) line.text = cut(line.text, size.columns);
  return frame;
}

}  // namespace holdfast::cli
