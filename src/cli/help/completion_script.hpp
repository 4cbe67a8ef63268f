#pragma once

#include <string>

#include "cli/help/completion_model.hpp"

namespace holdfast::cli {

/// Scripts that a shell sources, or finds in its folder of completions. They ask the tool itself for the names of
/// locks, with the store's flags that were typed, and for two seconds at most.
std::string bash_completion(const CompletionModel& model);
std::string zsh_completion(const CompletionModel& model);
std::string fish_completion(const CompletionModel& model);

}  // namespace holdfast::cli
