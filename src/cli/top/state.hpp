#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/top/keys.hpp"
#include "holdfast/status.hpp"

namespace holdfast::cli {

/// What `top` shows of which locks, and how keys change that. No I/O.
///
/// | page         | keys                                                                                          |
/// |--------------|-----------------------------------------------------------------------------------------------|
/// | list         | arrows, j, k, page up and down, home, end: select; enter: detail; n, s, t, w: sort;           |
/// |              | /: filter; esc: no filter; ?: help; q: quit                                                   |
/// | filter       | text; backspace; enter: keep it; esc: no filter                                               |
/// | detail, help | arrows, j, k, page up and down, home, end: scroll; esc, q, ?: back                            |
///
/// Ctrl-C quits and Ctrl-Z stops everywhere.
class TopState {
 public:
  enum class Page { list, filter, detail, help };
  enum class Order { name, since, ttl, waiters };
  enum class Outcome { none, quit, stop, redraw };

  /// There is a new picture of the store.
  void update(std::vector<LockStatus> locks);
  /// A key was pressed while the page had room for `rows` lines of its own.
  Outcome press(const Key& key, std::size_t rows);

  Page page() const { return page_; }
  Order order() const { return order_; }
  bool reversed() const { return reversed_; }
  const std::string& filter() const { return filter_; }

  /// Everything in the picture.
  const std::vector<LockStatus>& all() const { return all_; }
  /// What passes the filter, in the order that was asked for.
  const std::vector<const LockStatus*>& shown() const { return shown_; }
  /// Which of those is selected: always the first until somebody moves on, then the same lock as long as it is there.
  std::size_t selected() const { return selected_; }

  /// The name on the detail page.
  const std::string& detail_name() const { return detailed_.name; }
  /// The lock on the detail page; null when nobody holds it any more and nobody waits for it.
  const LockStatus* detail() const;
  /// How many lines of the detail or help page are above the screen.
  std::size_t scrolled() const { return scrolled_; }

 private:
  struct Id {
    std::string name = {};
    LockKind kind = LockKind::lock;
    bool is(const LockStatus& lock) const { return lock.kind == kind && lock.name == name; }
  };

  Outcome press_on_list(const Key& key, std::size_t rows);
  void press_on_filter(const Key& key);
  void press_on_text(const Key& key, std::size_t rows);
  std::size_t lines_of_text() const;
  void sort_by(Order order);
  void filter_by(std::string filter);
  void select(std::size_t index);
  void open_detail();
  void arrange();

  std::vector<LockStatus> all_;
  std::vector<const LockStatus*> shown_;
  Page page_ = Page::list;
  Order order_ = Order::name;
  bool reversed_ = false;
  std::string filter_;
  std::size_t selected_ = 0;
  Id selected_id_;
  Id detailed_;
  std::size_t scrolled_ = 0;
};

}  // namespace holdfast::cli
