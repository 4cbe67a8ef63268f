#pragma once

#include <chrono>

#include "sim/checker.hpp"
#include "sim/plan.hpp"
#include "sim/world.hpp"

namespace holdfast::sim {

/// A plan with as few turns and faults as possible, whose history still breaks `rule`. Takes a few seconds at most.
/// REQUIRES: the history of `plan` breaks it.
Plan shrink(Plan plan, const Mistakes& mistakes, Rule rule, std::chrono::milliseconds budget = std::chrono::seconds(5));

}  // namespace holdfast::sim
