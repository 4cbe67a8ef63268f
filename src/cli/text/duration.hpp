#pragma once

#include <chrono>
#include <string_view>

namespace holdfast::cli {

/// A duration as people write it: `500ms`, `10s`, `5m`, `1h`, `1h30m`. Larger units come first, each at most once.
/// Throws UsageError that says what to write instead; a bare number is refused, for nobody knows what it means.
std::chrono::milliseconds parse_duration(std::string_view text);

}  // namespace holdfast::cli
