#include "backends/redis/connection/eviction.hpp"

#include <utility>

namespace holdfast::redis {
namespace {

/// The value in the line `field:value` of what INFO says; empty if there is none.
std::string_view value_of(std::string_view field, std::string_view info) {
  while (!info.empty()) {
    const std::size_t end = info.find("\r\n");
    const std::string_view line = info.substr(0, end);
    if (line.size() > field.size() && line.starts_with(field) && line[field.size()] == ':') {
      return line.substr(field.size() + 1);
    }
    info = end == std::string_view::npos ? std::string_view() : info.substr(end + 2);
  }
  return {};
}

}  // namespace

std::optional<std::string> dangerous_eviction(std::string_view info) {
  const std::string_view limit = value_of("maxmemory", info);
  const std::string_view policy = value_of("maxmemory_policy", info);
  if (limit.empty() || limit == "0" || policy.empty() || policy == "noeviction") return std::nullopt;
  return std::string(policy);
}

void warn_about_eviction(Pipeline& pipeline, std::function<void(std::string)> warn) {
  auto on_reply = [warn = std::move(warn), server = pipeline.address().shown()](const spi::Result<Reply*>& result) {
    if (!result.ok()) return;  // forbidden, or the connection broke: nothing that was asked for has failed
    const std::optional<std::string> policy = dangerous_eviction(result.value()->text);
    if (!policy) return;
    warn(server + " throws away locks that are held when its memory is full (maxmemory-policy " + *policy +
         "); set maxmemory-policy to noeviction");
  };
  pipeline.send({.command = Command().add("INFO").add("memory"), .on_reply = std::move(on_reply)});
}

}  // namespace holdfast::redis
