#include "cli/ids/decode.hpp"

#include "cli/exit_code.hpp"
#include "cli/ids/far_times.hpp"
#include "cli/text/field.hpp"
#include "cli/text/output.hpp"
#include "holdfast/ids/uuid.hpp"

namespace holdfast::cli {

DecodedId decode_id(std::string_view text, ids::TextForm form, const ids::SnowflakeLayout& layout) {
  if (const auto uuid = ids::Uuid::parse(text)) {
    return {.kind = "uuid", .id = to_string(*uuid), .version = uuid->version(), .time = uuid->time()};
  }
  const auto id = ids::from_text(text, form);
  if (!id) {
    throw UsageError(in_quotes(text) + " is neither a UUID nor a number in the form that --form says");
  }
  if (layout.bits() < 64 && *id >> static_cast<unsigned>(layout.bits()) != 0) {
    throw UsageError(in_quotes(text) + " has more than the " + std::to_string(layout.bits()) + " bits of the layout " +
                     to_string(layout) + "; say with --layout how it was made");
  }
  const ids::SnowflakeLayout::Parts parts = layout.decode(*id);
  return {.kind = "snowflake",
          .id = std::to_string(*id),
          .time = parts.time,
          .worker = parts.worker,
          .sequence = parts.sequence};
}

std::string text_of(const DecodedId& decoded) {
  std::string text = field("kind", decoded.kind) + field("id", decoded.id);
  if (decoded.version) text += field("version", std::to_string(*decoded.version));
  if (decoded.time) text += field("time", time_text(*decoded.time));
  if (decoded.worker) text += field("worker", std::to_string(*decoded.worker));
  if (decoded.sequence) text += field("sequence", std::to_string(*decoded.sequence));
  return text;
}

}  // namespace holdfast::cli
