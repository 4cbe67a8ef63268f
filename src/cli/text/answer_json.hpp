#pragma once

#include <string>
#include <vector>

#include "cli/bench/figures.hpp"
#include "holdfast/election.hpp"
#include "holdfast/register.hpp"
#include "holdfast/status.hpp"

namespace holdfast::cli {

/// What the small subcommands answer with --json: one object each, with a newline at its end. Bytes that are not UTF-8
/// are replaced.

/// `name, value, version`.
std::string to_json(const LockName& name, const Versioned& value);
/// `name, value, term`; the term is a string, as tokens are.
std::string to_json(const LockName& name, const Leader& leader);
/// `version`, and if `traits` is not null, an object `traits` with the members of StoreTraits; durations as `..._ms`.
std::string version_json(const StoreTraits* traits);
/// `store`, and for each figure an object under its id: `count, per_second, p50_ns, p99_ns`.
std::string to_json(const std::string& store, const std::vector<BenchFigure>& figures);

}  // namespace holdfast::cli
