#include "backends/zookeeper/answers.hpp"

#include <algorithm>
#include <span>

#include "backends/zookeeper/nodes.hpp"

namespace holdfast::zookeeper {

namespace {

/// What servers say about a session that ended a moment ago, while a request in it was under way. The library has no
/// name for it.
constexpr int unknown_session = -12;

}  // namespace

Outcome outcome_of(int code) {
  switch (code) {
    case ZOK: return Outcome::ok;
    case ZNONODE: return Outcome::no_node;
    case ZNODEEXISTS: return Outcome::node_exists;
    case ZBADVERSION: return Outcome::other_version;
    case ZNOTEMPTY: return Outcome::not_empty;
    case ZNOAUTH:
    case ZAUTHFAILED: return Outcome::no_access;
    case unknown_session:
    case ZSESSIONEXPIRED: return Outcome::session_ended;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
    case ZSESSIONMOVED:
    case not_understood:  // the library gave the connection up because it did not
                          // understand what came
    case ZCLOSING: return Outcome::lost;
    default: return Outcome::failed;
  }
}

bool was_heard(Outcome outcome) {
  return outcome != Outcome::lost && outcome != Outcome::not_sent && outcome != Outcome::session_ended;
}

NodeStat stat_from(const Stat* stat) {
  if (stat == nullptr) return {};
  return {.created = static_cast<std::uint64_t>(stat->czxid),
          .created_at = stat->ctime,
          .changed_at = stat->mtime,
          .owner = stat->ephemeralOwner,
          .data_changed = static_cast<std::uint64_t>(stat->mzxid),
          .version = stat->version,
          // Its cversion counts both creations and deletions.
          .children_ever = (static_cast<std::int64_t>(stat->cversion) + stat->numChildren) / 2,
          .changes = stat->cversion};
}

bool read_names(const String_vector& names, std::vector<std::string>& into) {
  if (names.count < 0 || (names.count > 0 && names.data == nullptr)) return false;
  // The library leaves names out that it could not read.
  const auto all = std::span(names.data, static_cast<std::size_t>(names.count));
  if (std::ranges::any_of(all, [](const char* name) { return name == nullptr; })) return false;
  into.assign(all.begin(), all.end());
  return true;
}

bool is_path_for(std::string_view created, std::string_view wanted, bool is_numbered) {
  if (!is_numbered) return created == wanted;
  if (!created.starts_with(wanted)) return false;
  created.remove_prefix(wanted.size());
  return created.size() == sequence_bytes && created.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace holdfast::zookeeper
