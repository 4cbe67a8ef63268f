#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// The one of `known` that somebody who wrote `word` probably meant; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// ` (did you mean 'run'?)`, or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace holdfast::cli
