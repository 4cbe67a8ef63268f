#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "holdfast/ids/snowflake_layout.hpp"
#include "holdfast/ids/text.hpp"

namespace holdfast::cli {

/// What can be read from an id.
struct DecodedId {
  std::string kind = {};            ///< "uuid" or "snowflake"
  std::string id = {};              ///< as it is usually written
  std::optional<int> version = {};  ///< of a UUID
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> time = {};
  std::optional<std::uint32_t> worker = {};
  std::optional<std::uint32_t> sequence = {};
};

/// A UUID is recognized by its form; everything else is read as a snowflake in the text form given. Throws UsageError.
DecodedId decode_id(std::string_view text, ids::TextForm form, const ids::SnowflakeLayout& layout);

/// One line for each part.
std::string text_of(const DecodedId& decoded);

}  // namespace holdfast::cli
