#include "backends/etcd/turns.hpp"

#include <algorithm>

namespace holdfast::etcd {

Turns::Ticket Turns::enter(const std::string& name, std::optional<spi::ClaimId> releases,
                           std::optional<spi::ClaimId> replaces) {
  auto place = std::make_shared<Place>();
  auto& line = lines_[name];
  place->releases = releases;
  place->has_turn = std::ranges::all_of(
      line, [&](const auto& ahead) { return replaces && ahead->releases == replaces && ahead->has_turn; });
  line.push_back(place);
  return {*this, name, place};
}

void Turns::leave(const std::string& name, const std::shared_ptr<Place>& place) {
  const auto found = lines_.find(name);
  if (found == lines_.end()) return;  // closed
  auto& line = found->second;
  const bool was_first = line.front() == place;
  std::erase(line, place);
  if (line.empty()) {
    lines_.erase(found);
    return;
  }
  if (!was_first) return;
  line.front()->has_turn = true;
  if (!line.front()->waiting) return;
  // Not from here: whoever ends may be in the middle of something.
  starting_.push_back(line.front());
  loop_.defer([this, alive = alive_] {
    if (*alive) start_next();
  });
}

void Turns::start_next() {
  if (starting_.empty()) return;
  const auto next = std::move(starting_.front());
  starting_.pop_front();
  if (const auto waiting = std::exchange(next->waiting, {})) waiting.resume();
}

void Turns::close() {
  closed_ = true;
  starting_.clear();
  const auto lines = std::exchange(lines_, {});
  for (const auto& [name, line] : lines) {
    for (const auto& place : line) {
      if (const auto waiting = std::exchange(place->waiting, {})) waiting.resume();
    }
  }
}

}  // namespace holdfast::etcd
