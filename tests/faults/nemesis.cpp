#include "faults/nemesis.hpp"

#include <algorithm>
#include <thread>

namespace holdfast::faults {

using namespace std::chrono_literals;

namespace {

constexpr milliseconds tick{5};
constexpr milliseconds between_rests{20'000};
/// Beyond the leases that end meanwhile: longer than the checker allows for noise, or it would see nothing.
constexpr milliseconds rest{6000};

/// How long the store is left alone between two harms, and for how much of a lease it is away; each a range.
struct Rhythm {
  milliseconds least_pause{};
  milliseconds most_pause{};
  std::int64_t most_percent = 0;
  std::int64_t least_percent = 0;
};

Rhythm rhythm_of(Sabotage sabotage) {
  switch (sabotage) {
    case Sabotage::restart: return {800ms, 2000ms, 130};
    case Sabotage::pause: return {300ms, 1500ms, 130};
    case Sabotage::forget_scripts: return {5ms, 20ms, 0};
    case Sabotage::cut_listeners: return {10ms, 50ms, 0};
    case Sabotage::cut_everybody: return {200ms, 200ms, 0};
    case Sabotage::lose_replies:
    case Sabotage::compact: return {300ms, 600ms, 0};
    // Longer than two leases: a new leader may extend them all, and the dead must be followed now and then.
    case Sabotage::kill_leader:
    case Sabotage::pause_leader:
    case Sabotage::cut_off_leader: return {4500ms, 6000ms, 130};
    case Sabotage::lose_quorum: return {4500ms, 6000ms, 220, 200};
    // Longer than a lease, so that there are times in which locks must exclude.
    case Sabotage::restart_empty: return {1500ms, 3000ms, 30};
    case Sabotage::forget:
    case Sabotage::end_leases:
    case Sabotage::forget_and_set_back: return {1500ms, 3000ms, 0};
  }
  return {};
}

bool needs_three_servers(Sabotage sabotage) {
  return sabotage >= Sabotage::kill_leader && sabotage <= Sabotage::lose_quorum;
}

bool is_away(Sabotage sabotage) { return sabotage != Sabotage::forget_scripts && sabotage != Sabotage::cut_listeners; }

}  // namespace

Harm Nemesis::run(milliseconds duration) {
  const Moment end = now() + duration;
  const Moment latest = now() + 5 * duration;
  Moment next_rest = now() + between_rests;
  next_sabotage_ = now() + arena_->ttl() / 2;
  if (sabotage_) sabotage_->store.set_pastime([this](milliseconds length) { pass(length); });
  while (now() < end || (!has_done_enough() && now() < latest)) {
    wait_until(now() + milliseconds(between(20, 400)));
    do_harm();
    if (now() < next_rest || now() >= end) continue;
    come_to_rest();
    wait_until(now() + 2 * arena_->ttl() + rest);
    next_rest = now() + between_rests;
    next_sabotage_ = now();
  }
  come_to_rest();
  if (sabotage_) sabotage_->store.set_pastime({});
  return harm_;
}

/// On a machine that hardly runs, less happens in a given time.
bool Nemesis::has_done_enough() const {
  constexpr std::uint64_t some = 3;
  const bool has_harmed_users = harm_.kills > 0 && harm_.short_stops > 0 && harm_.long_stops > 0 &&
                                harm_.stops_in_section >= some && arena_->harmful_writes > 0;
  if (!sabotage_) return has_harmed_users;
  return has_harmed_users && harm_.hits > 0 && harm_.sabotages >= (needs_three_servers(sabotage_->kind) ? 2 : some);
}

void Nemesis::come_to_rest() {
  next_sabotage_ = never;
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

/// While the store is away, its users are not left alone.
void Nemesis::pass(milliseconds length) {
  for (const Moment end = now() + length; now() < end; do_harm()) {
    wait_until(std::min(end, now() + milliseconds(between(20, 400))));
  }
}

void Nemesis::sabotage() {
  const auto [least, most, most_percent, least_percent] = rhythm_of(sabotage_->kind);
  const Moment from = now();
  next_sabotage_ = never;
  harm_.hits += sabotage_->store.do_harm(sabotage_->kind, leases(least_percent, most_percent));
  ++harm_.sabotages;
  harm_.troubles.push_back({from, now(), is_away(sabotage_->kind), forgets(sabotage_->kind)});
  next_sabotage_ = now() + milliseconds(between(least.count(), most.count()));
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
    if (sabotage_ && now() >= next_sabotage_) sabotage();
    at_once([] { std::this_thread::sleep_for(tick); });
  }
}

void Nemesis::wake_up(Moment moment) {
  for (std::size_t slot = 0; slot < wakes_.size(); ++slot) {
    if (fleet_.has_stopped_itself(slot)) {
      ++harm_.stops_in_section;
      in_section_[slot] = true;
      // Time for somebody else to be served, and to write.
      wakes_[slot] = now() + (sabotage_ && needs_three_servers(sabotage_->kind) ? leases(300, 400) : leases(150, 250));
    }
    if (moment < wakes_[slot]) continue;
    wakes_[slot] = never;
    in_section_[slot] = false;
    fleet_.resume(slot);
  }
}

}  // namespace holdfast::faults
