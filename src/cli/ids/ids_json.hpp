#pragma once

#include <string>
#include <vector>

#include "cli/ids/decode.hpp"
#include "cli/ids/measure.hpp"
#include "cli/ids/plan.hpp"
#include "holdfast/ids/worker_pool.hpp"

namespace holdfast::cli {

/// What `id` answers with --json: one object each, with a newline at its end. Ids are texts, because not every reader of
/// JSON keeps 64 bits.

/// `kind, ids[]`.
std::string to_json(const std::string& kind, const std::vector<std::string>& texts);
/// `kind, id`, and `version, time, worker, sequence` as far as the id has them.
std::string to_json(const DecodedId& decoded);
/// `kinds[]`, each with the members of ids::Traits.
std::string to_json(const std::vector<ids::Traits>& kinds);
/// `layout, time_bits, worker_bits, sequence_bits, unit, epoch, workers, ids_per_second, ends, exact_in_javascript`.
std::string to_json(const ids::SnowflakeLayout& layout);
/// `pool, layout, workers, window_ms, used[]`, each with `number, state, holder, since, reserved_until`.
std::string to_json(const std::string& name, const ids::WorkerPoolStatus& pool);
/// `store`, and for each figure its `per_second` under its id.
std::string to_json(const std::string& store, const std::vector<IdFigure>& figures);

}  // namespace holdfast::cli
