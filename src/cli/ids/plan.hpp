#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/ids/snowflake_layout.hpp"
#include "holdfast/ids/traits.hpp"

namespace holdfast::cli {

/// What ids are needed for.
struct IdNeeds {
  std::uint64_t rate = 1'000;  ///< ids per second that the busiest worker makes, for as long as it likes
  std::uint64_t workers = 10;  ///< at the same time
  int years = 20;
  bool js = false;  ///< JavaScript reads them as numbers
};

/// The layout for it, if there is one: the usual one if that is enough, else one in which each field has what it needs.
/// Ids that are needed for `years` from `now` on may carry times up to then.
std::optional<ids::SnowflakeLayout> plan_layout(const IdNeeds& needs, std::chrono::sys_seconds now);

/// The odds that of so many random ids with so many random bits any two are equal.
double collision_odds(double ids, int random_bits);

/// What each kind promises.
std::vector<ids::Traits> all_traits();

std::string text_of(const std::vector<ids::Traits>& kinds);
std::string text_of(const ids::SnowflakeLayout& layout, const IdNeeds& needs);

}  // namespace holdfast::cli
