#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/redis/connection/pipeline.hpp"

namespace holdfast::redis {

/// The policy by which the server may throw locks away when its memory is full, if it may. `info` is what INFO says.
std::optional<std::string> dangerous_eviction(std::string_view info);

/// Asks the server, and warns if it may. A user who may not ask is not warned.
void warn_about_eviction(Pipeline& pipeline, std::function<void(std::string)> warn);

}  // namespace holdfast::redis
