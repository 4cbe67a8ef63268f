#pragma once

#include <chrono>
#include <string_view>

namespace holdfast::cli {

/// A duration as people write it: `500ms`, `10s`, `5m`, `1h30m`, `1.5h`, `1d`, `1w`. Larger units come first, each at
/// most once; the last part may have a fraction, of whole milliseconds. A day has 24 hours. Throws UsageError that says
/// what to write instead; a bare number is refused, for nobody knows what it means.
std::chrono::milliseconds parse_duration(std::string_view text);

}  // namespace holdfast::cli
