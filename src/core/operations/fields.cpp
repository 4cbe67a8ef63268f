#include "core/operations/fields.hpp"

#include <charconv>
#include <cstdint>

namespace holdfast::core {

std::string to_record(const std::vector<std::string>& fields) {
  std::string record;
  for (const std::string& field : fields) record += std::to_string(field.size()) + ':' + field;
  return record;
}

std::optional<std::vector<std::string>> from_record(std::string_view record) {
  std::vector<std::string> fields;
  while (!record.empty()) {
    const std::size_t colon = record.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto length = to_number<std::uint64_t>(record.substr(0, colon));
    record.remove_prefix(colon + 1);
    if (!length || *length > record.size()) return std::nullopt;
    fields.emplace_back(record.substr(0, *length));
    record.remove_prefix(*length);
  }
  return fields;
}

template <class Number>
std::optional<Number> to_number(std::string_view field) {
  Number number = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != field.data() + field.size()) return std::nullopt;
  return number;
}

template std::optional<std::uint32_t> to_number(std::string_view);
template std::optional<std::int32_t> to_number(std::string_view);
template std::optional<std::uint64_t> to_number(std::string_view);
template std::optional<std::int64_t> to_number(std::string_view);

}  // namespace holdfast::core
