#include "cli/ids/plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

#include "cli/ids/far_times.hpp"
#include "cli/text/field.hpp"
#include "cli/text/table.hpp"
#include "holdfast/client.hpp"
#include "holdfast/ids/auto_increment.hpp"
#include "holdfast/ids/date_counter.hpp"
#include "holdfast/ids/segment.hpp"
#include "holdfast/ids/snowflake.hpp"
#include "holdfast/ids/stepped.hpp"
#include "holdfast/ids/uuid4.hpp"
#include "holdfast/ids/uuid7.hpp"

namespace holdfast::cli {
namespace {

using ids::SnowflakeLayout;
using Unit = SnowflakeLayout::Unit;
constexpr auto epoch = SnowflakeLayout::Fields{}.epoch;

/// How many bits so many different values need.
int bits_for(std::uint64_t values) { return values <= 1 ? 0 : static_cast<int>(std::bit_width(values - 1)); }

bool suffices(const SnowflakeLayout& layout, const IdNeeds& needs, std::chrono::sys_seconds until) {
  return layout.ids_per_second() >= needs.rate && layout.workers() >= needs.workers && layout.ends() >= until &&
         (!needs.js || layout.is_exact_in_javascript());
}

/// Each field as wide as it has to be. Of the bits that are left, the time gets as many as is usual, and the sequence
/// numbers the others.
std::optional<SnowflakeLayout> tailored(const IdNeeds& needs, std::chrono::sys_seconds until, Unit unit) {
  const bool in_seconds = unit == Unit::seconds;
  const std::uint64_t ticks_per_second = in_seconds ? 1 : 1'000;
  const auto ticks = static_cast<std::uint64_t>((until - epoch).count()) * ticks_per_second;
  constexpr int least_time = 10;
  constexpr int most_worker_or_sequence = 22;
  SnowflakeLayout::Fields fields = {
      .time_bits = std::max(bits_for(ticks + 1), least_time),
      .worker_bits = bits_for(needs.workers),
      .sequence_bits = std::max(bits_for((needs.rate + ticks_per_second - 1) / ticks_per_second), 1),
      .unit = unit};
  const int width = needs.js ? 53 : 63;
  const int left = width - fields.time_bits - fields.worker_bits - fields.sequence_bits;
  const bool fits = left >= 0 && fields.time_bits <= (in_seconds ? 36 : 44) &&
                    std::max(fields.worker_bits, fields.sequence_bits) <= most_worker_or_sequence;
  if (!fits) return std::nullopt;
  const int longer = std::clamp((in_seconds ? 31 : 41) - fields.time_bits, 0, left);
  fields.time_bits += longer;
  fields.sequence_bits = std::min(fields.sequence_bits + left - longer, most_worker_or_sequence);
  return SnowflakeLayout(fields);
}

}  // namespace

std::optional<SnowflakeLayout> plan_layout(const IdNeeds& needs, std::chrono::sys_seconds now) {
  const auto until = std::chrono::floor<std::chrono::seconds>(now + std::chrono::years(needs.years));
  for (const SnowflakeLayout& usual :
       {SnowflakeLayout(), SnowflakeLayout::javascript(), SnowflakeLayout::javascript_seconds()}) {
    if (suffices(usual, needs, until)) return usual;
  }
  for (const Unit unit : {Unit::milliseconds, Unit::seconds}) {
    if (const auto layout = tailored(needs, until, unit)) return layout;
  }
  return std::nullopt;
}

double collision_odds(double ids, int random_bits) {
  // For odds that are small, which is when they are of interest: pairs divided by possible values.
  return std::min(ids * ids / 2 / std::exp2(random_bits), 1.0);
}

std::vector<ids::Traits> all_traits() {
  Client client("memory:kinds-of-ids");
  const LockName name("kinds");
  return {ids::Uuid4::traits(),        ids::Uuid7().traits(),  ids::Snowflake(client, name).traits(),
          ids::Segment::traits(),      ids::Stepped::traits(), ids::DateCounter::traits(),
          ids::AutoIncrement::traits()};
}

std::string text_of(const std::vector<ids::Traits>& kinds) {
  Table table({"KIND", "ORDER", "TIME", "ENDS", "UNIQUE BY", "WHILE THE STORE IS AWAY"});
  for (const ids::Traits& kind : kinds) {
    table.add({std::string(kind.kind), std::string(to_string(kind.order)), kind.carries_time ? "yes" : "no",
               kind.ends ? day_text(*kind.ends) : "never", std::string(kind.unique_by),
               std::string(kind.in_an_outage)});
  }
  return table.text();
}

std::string text_of(const SnowflakeLayout& layout, const IdNeeds& needs) {
  const SnowflakeLayout::Fields& fields = layout.fields();
  std::string text = field("layout", to_string(layout));
  text += field("bits", std::to_string(layout.bits()) + ": " + std::to_string(fields.time_bits) + " of " +
                            (fields.unit == Unit::milliseconds ? "milliseconds" : "seconds") + " since " +
                            day_text(fields.epoch) + ", " + std::to_string(fields.worker_bits) + " for workers, " +
                            std::to_string(fields.sequence_bits) + " for a sequence number");
  text += field("workers", std::to_string(layout.workers()));
  text += field("rate", std::to_string(layout.ids_per_second()) + " ids per second of each worker");
  text += field("ends", day_text(std::chrono::floor<std::chrono::seconds>(layout.ends())));
  text += field("javascript", layout.is_exact_in_javascript() ? "exact" : "not exact as a number; pass ids as texts");
  const double seconds = std::chrono::duration<double>(std::chrono::years(needs.years)).count();
  const double ids = static_cast<double>(needs.rate) * static_cast<double>(needs.workers) * seconds;
  char line[100] = {};  // NOLINT(modernize-avoid-c-arrays): for snprintf
  constexpr int random_bits_of_uuid4 = 122;
  std::snprintf(line, sizeof(line), "the odds that any two of %.2g random UUIDs (uuid4) are equal: %.1g", ids,
                collision_odds(ids, random_bits_of_uuid4));
  return text + field("instead", line);
}

}  // namespace holdfast::cli
