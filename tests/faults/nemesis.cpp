#include "faults/nemesis.hpp"

#include <algorithm>
#include <thread>

namespace holdfast::faults {

namespace {

constexpr milliseconds tick{5};
constexpr milliseconds between_rests{8000};

}  // namespace

Harm Nemesis::run(milliseconds duration) {
  const Moment end = now() + duration;
  Moment next_rest = now() + between_rests;
  while (now() < end) {
    wait_until(now() + milliseconds(between(20, 400)));
    do_harm();
    if (now() < next_rest) continue;
    come_to_rest();
    wait_until(now() + 3 * arena_->ttl());
    next_rest = now() + between_rests;
  }
  come_to_rest();
  return harm_;
}

void Nemesis::come_to_rest() {
  for (std::size_t slot = 0; slot < fleet_.slots(); ++slot) arena_->stop_in_section[slot] = false;
  wait_until(now() + tick);  // for one that has just begun to stop itself
  while (std::any_of(wakes_.begin(), wakes_.end(), [](Moment moment) { return moment != never; })) {
    wait_until(now() + tick);
  }
}

milliseconds Nemesis::leases(std::int64_t least_percent, std::int64_t most_percent) {
  return milliseconds(arena_->ttl_ms * between(least_percent, most_percent) / 100);
}

void Nemesis::do_harm() {
  const auto slot = static_cast<std::size_t>(between(0, static_cast<std::int64_t>(fleet_.slots()) - 1));
  const auto still = std::count_if(wakes_.begin(), wakes_.end(), [](Moment moment) { return moment != never; });
  const auto dice = between(0, 99);
  if (dice < 30) {  // also one that stands still, unless its late write is wanted
    if (in_section_[slot]) return;
    ++harm_.kills;
    wakes_[slot] = never;
    return at_once([&] { fleet_.replace(slot); });
  }
  if (wakes_[slot] != never || static_cast<std::size_t>(still) >= fleet_.slots() / 4) return;
  if (dice < 60) {
    arena_->stop_in_section[slot] = true;
    return;
  }
  const bool is_long = dice < 80;
  ++(is_long ? harm_.long_stops : harm_.short_stops);
  at_once([&] { fleet_.stop(slot); });
  wakes_[slot] = now() + (is_long ? leases(110, 200) : leases(1, 66));
}

/// Measures how long the machine takes for something that waits for nobody.
template <class Call>
void Nemesis::at_once(Call call) {
  const Moment start = now();
  call();
  harm_.longest_stall = std::max(harm_.longest_stall, now() - start);
}

void Nemesis::wait_until(Moment moment) {
  while (now() < moment) {
    wake_up(now());
    at_once([] { std::this_thread::sleep_for(tick); });
  }
}

void Nemesis::wake_up(Moment moment) {
  for (std::size_t slot = 0; slot < wakes_.size(); ++slot) {
    if (fleet_.has_stopped_itself(slot)) {
      ++harm_.stops_in_section;
      in_section_[slot] = true;
      wakes_[slot] = now() + leases(150, 250);  // time for somebody else to be served, and to write
    }
    if (moment < wakes_[slot]) continue;
    wakes_[slot] = never;
    in_section_[slot] = false;
    fleet_.resume(slot);
  }
}

}  // namespace holdfast::faults
