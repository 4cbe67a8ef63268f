#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/bench/figures.hpp"
#include "holdfast/client.hpp"

namespace holdfast::cli {

/// Measures what two clients of one store can do, for `each` per figure, with locks whose names begin with `prefix` and
/// nobody else uses. All of them are given back when it returns, however it does. Throws Errc::cancelled once `stop` is
/// triggered, and what the store's failures throw.
std::vector<BenchFigure> measure(Client& client, Client& other, const std::string& prefix,
                                 std::chrono::nanoseconds each, const std::stop_token& stop);

}  // namespace holdfast::cli
