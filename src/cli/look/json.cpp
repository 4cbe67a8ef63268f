#include "cli/look/json.hpp"

#include <nlohmann/json.hpp>

#include "cli/look/lock_text.hpp"
#include "cli/text/json_text.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ClaimStatus& claim) {
  Json object = {{"client", claim.client.id},       {"host", claim.client.host},         {"pid", claim.client.pid},
                 {"command", claim.client.command}, {"label", claim.client.label},       {"reason", claim.reason},
                 {"since", rfc3339(claim.since)},   {"ttl_ms", claim.lease_left.count()}};
  if (claim.mode == ClaimMode::permits) object["permits"] = claim.permits;
  return object;
}

Json json_of(const std::vector<ClaimStatus>& claims) {
  Json array = Json::array();
  for (const ClaimStatus& claim : claims) array.push_back(json_of(claim));
  return array;
}

Json json_of(const LockStatus& lock) {
  Json object = {{"name", lock.name},
                 {"mode", mode_of(lock)},
                 {"token", to_string(token_of(lock))},
                 {"holders", json_of(lock.holders)},
                 {"waiters", json_of(lock.waiters)}};
  if (lock.total > 0) {
    object["total"] = lock.total;
    object["taken"] = permits_taken(lock);
  }
  return object;
}

}  // namespace

std::string to_json(const LockStatus& lock) { return json_text(json_of(lock)); }

std::string to_json_with_namesakes(const std::vector<LockStatus>& locks) {
  Json object = json_of(locks.front());
  for (std::size_t i = 1; i < locks.size(); ++i) object["also"].push_back(json_of(locks[i]));
  return json_text(object);
}

std::string to_json(const std::vector<LockStatus>& locks) {
  Json array = Json::array();
  for (const LockStatus& lock : locks) array.push_back(json_of(lock));
  return json_text(array);
}

std::string to_json(const Change& change, std::chrono::system_clock::time_point time) {
  Json object = {{"event", word_for(change.kind)},
                 {"time", rfc3339(time)},
                 {"name", change.name},
                 {"mode", mode_of(change.lock_kind, change.claim)},
                 {"token", to_string(token_of(change.claim))}};
  object.update(json_of(change.claim));
  return json_text(object, JsonLayout::one_line);
}

}  // namespace holdfast::cli
