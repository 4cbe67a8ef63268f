#include "ids/worker_record.hpp"

#include <charconv>

#include "holdfast/error.hpp"

namespace holdfast::ids {
namespace {

constexpr std::string_view no_guard = "none";

/// Takes the line `KEY VALUE` from the beginning of `text`.
std::optional<std::string_view> take_line(std::string_view& text, std::string_view key) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (!line.starts_with(key) || !line.substr(key.size()).starts_with(' ')) return std::nullopt;
  return line.substr(key.size() + 1);
}

template <class T>
std::optional<T> number_in(std::optional<std::string_view> text, int base = 10) {
  if (!text) return std::nullopt;
  T number = 0;
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number, base);
  if (error != std::errc() || stop != text->data() + text->size()) return std::nullopt;
  return number;
}

std::optional<SnowflakeLayout> layout_in(std::optional<std::string_view> text) {
  if (!text) return std::nullopt;
  try {
    return parse_snowflake_layout(*text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string in_hexadecimal(std::uint64_t number) {
  char digits[16];  // NOLINT(modernize-avoid-c-arrays): for to_chars
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), number, 16);
  return {digits, end};
}

/// A line of its own, whatever a host may be called.
std::string in_one_line(std::string text) {
  for (char& character : text) {
    if (static_cast<unsigned char>(character) < ' ') character = ' ';
  }
  return text;
}

}  // namespace

std::string to_text(const WorkerRecord& record) {
  return "snowflake " + to_string(record.layout) + "\nhwm " + std::to_string(record.hwm) + "\nsince " +
         std::to_string(record.since) + "\nnonce " + in_hexadecimal(record.nonce) + "\nholder " +
         in_one_line(record.holder) + '\n';
}

std::string to_text(const PoolRecord& record) {
  return "snowflake " + to_string(record.layout) + "\nworkers " + std::to_string(record.workers) + "\nwindow " +
         std::to_string(record.window.count()) + "\nguard " +
         (record.guard ? std::to_string(record.guard->count()) : std::string(no_guard)) + '\n';
}

std::optional<WorkerRecord> parse_worker_record(std::string_view text) {
  const auto layout = layout_in(take_line(text, "snowflake"));
  const auto hwm = number_in<std::int64_t>(take_line(text, "hwm"));
  const auto since = number_in<std::int64_t>(take_line(text, "since"));
  const auto nonce = number_in<std::uint64_t>(take_line(text, "nonce"), 16);
  const auto holder = take_line(text, "holder");
  if (!layout || !hwm || !since || !nonce || !holder || !text.empty()) return std::nullopt;
  if (*hwm < 0 || *hwm > layout->ticks() || *since < 0) return std::nullopt;
  return WorkerRecord{*layout, *hwm, *since, *nonce, std::string(*holder)};
}

std::optional<PoolRecord> parse_pool_record(std::string_view text) {
  const auto layout = layout_in(take_line(text, "snowflake"));
  const auto workers = number_in<std::uint32_t>(take_line(text, "workers"));
  const auto window = number_in<std::int64_t>(take_line(text, "window"));
  const auto guard_text = take_line(text, "guard");
  if (!layout || !workers || !window || !guard_text || !text.empty()) return std::nullopt;
  PoolRecord record = {.layout = *layout, .workers = *workers, .window = std::chrono::milliseconds(*window)};
  if (*guard_text != no_guard) {
    const auto guard = number_in<std::int64_t>(guard_text);
    if (!guard) return std::nullopt;
    record.guard = std::chrono::milliseconds(*guard);
  }
  return record;
}

std::string described(const PoolRecord& record) {
  return "the layout " + to_string(record.layout) + ", " + std::to_string(record.workers) + " numbers and windows of " +
         std::to_string(record.window.count()) + " ms";
}

}  // namespace holdfast::ids
