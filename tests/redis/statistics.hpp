#pragma once

#include <map>
#include <sstream>
#include <string>

#include "support/redis_server.hpp"

namespace holdfast::redis_suite {

using Counts = std::map<std::string, long>;

/// How often the server has executed each command since the last reset, also inside scripts.
inline Counts counts(const test::RedisServer& server) {
  Counts counts;
  std::istringstream lines(server.command({"INFO", "commandstats"}));
  for (std::string line; std::getline(lines, line);) {
    const std::string begin = "cmdstat_";
    const std::size_t colon = line.find(":calls=");
    if (!line.starts_with(begin) || colon == std::string::npos) continue;
    counts[line.substr(begin.size(), colon - begin.size())] = std::stol(line.substr(colon + 7));
  }
  for (const char* ours : {"config|resetstat", "info", "client|list"}) counts.erase(ours);
  return counts;
}

}  // namespace holdfast::redis_suite
