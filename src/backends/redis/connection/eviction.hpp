#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/redis/connection/pipeline.hpp"

namespace holdfast::redis {

/// The eviction policy by which the server may delete locks when its memory is full; nothing if it may not. `info` is
/// the reply to INFO.
std::optional<std::string> dangerous_eviction(std::string_view info);

/// Asks the server for its policy, and warns if it may delete locks. A user who may not ask is not warned.
void warn_about_eviction(Pipeline& pipeline, std::function<void(std::string)> warn);

}  // namespace holdfast::redis
