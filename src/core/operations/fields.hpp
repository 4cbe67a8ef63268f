#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::core {

/// Several fields of any bytes in one value of a register: each as its length, a colon and itself.
std::string to_record(const std::vector<std::string>& fields);
/// Empty if it is none.
std::optional<std::vector<std::string>> from_record(std::string_view record);

/// A field that is a number; empty if it is none, or does not fit.
template <class Number>
std::optional<Number> to_number(std::string_view field);

}  // namespace holdfast::core
