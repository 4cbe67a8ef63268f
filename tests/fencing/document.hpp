#pragma once

#include <string>

namespace holdfast::fencing {

/// The code block of docs/fencing.md that follows the line `<!-- guard: NAME -->`. Throws if there is none, or more
/// than one.
std::string documented(const std::string& name);

/// `text` with its one occurrence of `from` replaced, for guards that are wrong on purpose. Throws if there is not
/// exactly one.
std::string with(std::string text, const std::string& from, const std::string& to);

}  // namespace holdfast::fencing
