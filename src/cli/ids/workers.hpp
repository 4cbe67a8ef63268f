#pragma once

#include <string>

#include "holdfast/ids/worker_pool.hpp"

namespace holdfast::cli {

std::string_view to_string(ids::WorkerStatus::State state);

/// Who has which worker number, since when.
std::string text_of(const ids::WorkerPoolStatus& pool);

}  // namespace holdfast::cli
