#include "holdfast/ids/snowflake_layout.hpp"

#include <charconv>
#include <optional>

namespace holdfast::ids {
namespace {

using Fields = SnowflakeLayout::Fields;
using Unit = SnowflakeLayout::Unit;

/// Takes a number, and the '/' behind it, from the beginning of `text`.
template <class T>
bool take_number(std::string_view& text, T& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (text.starts_with('/')) text.remove_prefix(1);
  return true;
}

std::optional<Fields> fields_in(std::string_view text) {
  Fields fields;
  if (!take_number(text, fields.time_bits)) return std::nullopt;
  if (!take_number(text, fields.worker_bits)) return std::nullopt;
  if (!take_number(text, fields.sequence_bits)) return std::nullopt;
  if (text.starts_with("ms/")) {
    text.remove_prefix(3);
  } else if (text.starts_with("s/")) {
    fields.unit = Unit::seconds;
    text.remove_prefix(2);
  } else {
    return std::nullopt;
  }
  std::int64_t epoch = 0;
  if (!take_number(text, epoch) || !text.empty()) return std::nullopt;
  fields.epoch = std::chrono::sys_seconds(std::chrono::seconds(epoch));
  return fields;
}

}  // namespace

std::string to_string(const SnowflakeLayout& layout) {
  const Fields& fields = layout.fields();
  return std::to_string(fields.time_bits) + '/' + std::to_string(fields.worker_bits) + '/' +
         std::to_string(fields.sequence_bits) + (fields.unit == Unit::milliseconds ? "/ms/" : "/s/") +
         std::to_string(fields.epoch.time_since_epoch().count());
}

SnowflakeLayout parse_snowflake_layout(std::string_view text) {
  const std::optional<Fields> fields = fields_in(text);
  // One text for each layout: no signs, no leading zeros, no '/' too many.
  if (fields) {
    const SnowflakeLayout layout(*fields);
    if (to_string(layout) == text) return layout;
  }
  throw Error(Errc::invalid_argument, "'" + std::string(text) +
                                          "' is not a snowflake layout; it should look like 41/10/12/ms/1735689600: "
                                          "the bits for time, worker and sequence, ms or s, and the epoch in seconds "
                                          "since 1970");
}

}  // namespace holdfast::ids
