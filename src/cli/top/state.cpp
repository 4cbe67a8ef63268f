#include "cli/top/state.hpp"

#include <algorithm>

#include "cli/look/lock_details.hpp"
#include "cli/look/lock_text.hpp"
#include "cli/top/help.hpp"

namespace holdfast::cli {
namespace {

using Order = TopState::Order;

/// Whether `one` comes before `other`. Those without a holder have neither age nor lease, and come last; before them,
/// by age, those whose holder is unknown.
bool comes_before(const LockStatus& one, const LockStatus& other, Order order) {
  if (order == Order::name) return one.name < other.name;
  if (order == Order::waiters) return one.waiters.size() > other.waiters.size();
  if (one.holders.empty() || other.holders.empty()) return !one.holders.empty() && other.holders.empty();
  const ClaimStatus& first = one.holders.front();
  const ClaimStatus& second = other.holders.front();
  if (order == Order::ttl) return first.lease_left < second.lease_left;
  if (!is_known(first.client) || !is_known(second.client)) return is_known(first.client) && !is_known(second.client);
  return first.since < second.since;
}

/// A place in something that is longer than the screen.
struct Place {
  std::size_t position = 0;
  std::size_t count = 0;  ///< of all positions
  std::size_t page = 0;   ///< how many of them a page is
};

/// The position that a key leads to, if it is one that moves.
std::optional<std::size_t> moved(const Key& key, const Place& place) {
  const std::size_t last = place.count > 0 ? place.count - 1 : 0;
  const auto back = [&](std::size_t by) { return place.position > by ? place.position - by : 0; };
  const auto on = [&](std::size_t by) { return std::min(place.position + by, last); };
  switch (key.kind) {
    case Key::Kind::up: return back(1);
    case Key::Kind::down: return on(1);
    case Key::Kind::page_up: return back(place.page);
    case Key::Kind::page_down: return on(place.page);
    case Key::Kind::home: return 0;
    case Key::Kind::end: return last;
    default: break;
  }
  if (key.text == "k") return back(1);
  if (key.text == "j") return on(1);
  return std::nullopt;
}

std::optional<Order> order_for(const Key& key) {
  if (key.text == "n") return Order::name;
  if (key.text == "s") return Order::since;
  if (key.text == "t") return Order::ttl;
  if (key.text == "w") return Order::waiters;
  return std::nullopt;
}

void remove_last_character(std::string& text) {
  const auto is_continuation = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
  while (!text.empty() && is_continuation(text.back())) text.pop_back();
  if (!text.empty()) text.pop_back();
}

}  // namespace

void TopState::update(std::vector<LockStatus> locks) {
  all_ = std::move(locks);
  arrange();
}

TopState::Outcome TopState::press(const Key& key, std::size_t rows) {
  if (key.kind == Key::Kind::interrupt) return Outcome::quit;
  if (key.kind == Key::Kind::stop) return Outcome::stop;
  if (key.kind == Key::Kind::redraw) return Outcome::redraw;
  switch (page_) {
    case Page::list: return press_on_list(key, rows);
    case Page::filter: press_on_filter(key); break;
    case Page::detail:
    case Page::help: press_on_text(key, rows); break;
  }
  return Outcome::none;
}

TopState::Outcome TopState::press_on_list(const Key& key, std::size_t rows) {
  if (const auto index = moved(key, {.position = selected_, .count = shown_.size(), .page = rows})) {
    select(*index);
  } else if (const auto order = order_for(key)) {
    sort_by(*order);
  } else if (key.kind == Key::Kind::enter) {
    open_detail();
  } else if (key.kind == Key::Kind::escape) {
    filter_by("");
  } else if (key.text == "/") {
    page_ = Page::filter;
  } else if (key.text == "?") {
    scrolled_ = 0;
    page_ = Page::help;
  } else if (key.text == "q") {
    return Outcome::quit;
  }
  return Outcome::none;
}

void TopState::press_on_filter(const Key& key) {
  if (key.kind == Key::Kind::enter || key.kind == Key::Kind::escape) page_ = Page::list;
  if (key.kind == Key::Kind::escape) filter_by("");
  if (key.kind == Key::Kind::character) filter_by(filter_ + key.text);
  if (key.kind == Key::Kind::backspace) {
    std::string shorter = filter_;
    remove_last_character(shorter);
    filter_by(std::move(shorter));
  }
}

void TopState::press_on_text(const Key& key, std::size_t rows) {
  if (key.kind == Key::Kind::escape || key.text == "q" || key.text == "?") {
    page_ = Page::list;
    return;
  }
  const std::size_t lines = lines_of_text();
  const std::size_t positions = lines > rows ? lines - rows + 1 : 1;
  scrolled_ = moved(key, {.position = scrolled_, .count = positions, .page = rows}).value_or(scrolled_);
}

std::size_t TopState::lines_of_text() const {
  if (page_ == Page::help) return top_help.size();
  const LockStatus* const lock = detail();
  const std::string text = lock != nullptr ? details_of(*lock, {}) : "";
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void TopState::sort_by(Order order) {
  reversed_ = order == order_ && !reversed_;
  order_ = order;
  selected_ = 0;
  arrange();
}

void TopState::filter_by(std::string filter) {
  filter_ = std::move(filter);
  selected_ = 0;
  arrange();
}

void TopState::select(std::size_t index) {
  selected_ = index;
  if (index < shown_.size()) selected_id_ = {.name = shown_[index]->name, .kind = shown_[index]->kind};
}

void TopState::open_detail() {
  if (shown_.empty()) return;
  detailed_ = {.name = shown_[selected_]->name, .kind = shown_[selected_]->kind};
  scrolled_ = 0;
  page_ = Page::detail;
}

const LockStatus* TopState::detail() const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const LockStatus& lock) { return detailed_.is(lock); });
  return found != all_.end() ? &*found : nullptr;
}

void TopState::arrange() {
  shown_.clear();
  for (const LockStatus& lock : all_) {
    if (lock.name.find(filter_) != std::string::npos) shown_.push_back(&lock);
  }
  std::sort(shown_.begin(), shown_.end(), [&](const LockStatus* one, const LockStatus* other) {
    const bool before = comes_before(*one, *other, order_);
    const bool after = comes_before(*other, *one, order_);
    if (before == after) return one < other;  // as in the listing, of which both are elements
    return reversed_ ? after : before;
  });
  if (selected_ == 0) return;
  const auto same =
      std::find_if(shown_.begin(), shown_.end(), [&](const LockStatus* lock) { return selected_id_.is(*lock); });
  const std::size_t last = shown_.empty() ? 0 : shown_.size() - 1;
  select(same != shown_.end() ? static_cast<std::size_t>(same - shown_.begin()) : std::min(selected_, last));
}

}  // namespace holdfast::cli
