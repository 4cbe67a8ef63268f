#include "cli/json.hpp"

#include <nlohmann/json.hpp>

#include "cli/lock_text.hpp"
#include "cli/time_text.hpp"

namespace holdfast::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<ClaimStatus>& claims) {
  Json array = Json::array();
  for (const ClaimStatus& claim : claims) {
    Json object = {{"client", claim.client.id},       {"host", claim.client.host},         {"pid", claim.client.pid},
                   {"command", claim.client.command}, {"label", claim.client.label},       {"reason", claim.reason},
                   {"since", rfc3339(claim.since)},   {"ttl_ms", claim.lease_left.count()}};
    if (claim.mode == ClaimMode::permits) object["permits"] = claim.permits;
    array.push_back(std::move(object));
  }
  return array;
}

Json json_of(const LockStatus& lock) {
  Json object = {{"name", lock.name},
                 {"mode", mode_of(lock)},
                 {"token", to_string(token_of(lock))},
                 {"holders", json_of(lock.holders)},
                 {"waiters", json_of(lock.waiters)}};
  if (lock.total > 0) object["total"] = lock.total;
  return object;
}

std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string to_json(const LockStatus& lock) { return text_of(json_of(lock)); }

std::string to_json(const std::vector<LockStatus>& locks) {
  Json array = Json::array();
  for (const LockStatus& lock : locks) array.push_back(json_of(lock));
  return text_of(array);
}

}  // namespace holdfast::cli
