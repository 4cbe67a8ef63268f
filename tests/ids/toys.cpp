#include "ids/toys.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "sim/dice.hpp"

namespace holdfast::ids_sim {
namespace {

using sim::Dice;

constexpr std::int64_t length = 60'000;  // all times in milliseconds
constexpr std::int64_t lease = 3000;

/// What the store knows of a worker number. The store itself never forgets and never lies.
struct Slot {
  std::uint64_t token = 0;
  std::int64_t expires = 0;
  std::int64_t reported = 0;  ///< the latest time that was reported
};

struct Generator {
  std::int64_t offset = 0;  ///< of its clock
  std::int64_t paused_until = 0;
  std::optional<std::size_t> slot = {};
  std::uint64_t token = 0;
  std::int64_t next_report = 0;
  std::int64_t tick = 0;
  std::int64_t sequence = 0;
};

}  // namespace

std::uint64_t duplicates_of(Custom custom, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<Slot> slots(3);
  std::vector<Generator> generators(4);
  for (Generator& each : generators) each.offset = static_cast<std::int64_t>(dice.below(101)) - 50;
  std::uint64_t tokens = 0;
  std::uint64_t duplicates = 0;
  std::int64_t outage_until = 0;
  std::set<std::tuple<std::size_t, std::int64_t, std::int64_t>> seen;

  for (std::int64_t t = 0; t < length; ++t) {
    if (custom == Custom::does_not_fence && dice.below(3300) == 0) outage_until = t + 100 + dice.below(8000);
    for (Generator& each : generators) {
      const std::uint32_t fate = dice.below(20'000);
      if (fate == 0) each.slot.reset();
      if (fate == 1 && custom == Custom::does_not_fence) each.paused_until = t + 100 + dice.below(9000);
      if (fate == 2 || fate == 3) {
        constexpr std::int64_t steps[] = {-5000, -1500, -300, 300, 1500};  // NOLINT: a table
        each.offset += steps[dice.below(5)];
      }
      if (t < each.paused_until) continue;
      const bool up = t >= outage_until;
      const std::int64_t now = 100'000 + t + each.offset;
      if (!each.slot) {
        const auto free = std::ranges::find_if(slots, [&](const Slot& slot) { return slot.expires <= t; });
        if (!up || free == slots.end()) continue;
        *free = {.token = ++tokens, .expires = t + lease, .reported = free->reported};
        each.slot = static_cast<std::size_t>(free - slots.begin());
        each.token = tokens;
        each.tick = std::max(now, free->reported);
        each.sequence = -1;
        each.next_report = t + (custom == Custom::reports_every_3_s ? lease : 1000);
      }
      Slot& slot = slots[*each.slot];
      // The lease of those that report is renewed in time, so that nothing but the report is to blame.
      if (custom == Custom::reports_every_3_s && slot.token == each.token) slot.expires = t + lease;
      if (up && t >= each.next_report) {
        each.next_report = t + (custom == Custom::reports_every_3_s ? lease : 1000);
        if (slot.token == each.token) {
          slot.expires = t + lease;
          slot.reported = std::max(slot.reported, each.tick);
        }
      }
      if (now > each.tick) {
        each.tick = now;
        each.sequence = 0;
      } else if (++each.sequence >= 8) {
        ++each.tick;
        each.sequence = 0;
      }
      if (!seen.emplace(*each.slot, each.tick, each.sequence).second) ++duplicates;
    }
  }
  return duplicates;
}

}  // namespace holdfast::ids_sim
