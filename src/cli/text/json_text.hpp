#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace holdfast::cli {

/// How a document is laid out: over several lines for people who read along, or in one.
enum class JsonLayout { indented, one_line };

/// A JSON document with a newline at its end, safe to show on a terminal: what printable() escapes is escaped here as
/// JSON does it (`\u202e`), so that readers of JSON find what was written. Bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json, JsonLayout layout = JsonLayout::indented);

}  // namespace holdfast::cli
