#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace holdfast::fencing {

struct Outcome {
  int status = -1;
  std::string output;  // standard output and error, without the last line feed
};

/// Runs a script with `sh -eu` in a directory, for 30 s at most. Thread-safe.
Outcome run_script(const std::string& script, const std::filesystem::path& directory,
                   const std::map<std::string, std::string>& environment);

}  // namespace holdfast::fencing
