#include "backends/redis/protocol/failures.hpp"

#include <array>
#include <string>

namespace holdfast::redis {
namespace {

struct Meaning {
  std::string_view begins;  ///< with this
  Errc code;
  std::string_view advice;
};

// Whatever may pass by itself is retryable.
constexpr std::array meanings = {
    Meaning{"WRONGPASS", Errc::access_denied, "refused the user name or the password of the URL"},
    Meaning{"NOAUTH", Errc::access_denied, "wants a password; put it into the URL: redis://user:password@host"},
    Meaning{"ERR Protocol error: unauthenticated", Errc::access_denied,
            "wants a password; put it into the URL: redis://user:password@host"},
    Meaning{"NOPERM", Errc::access_denied,
            "does not allow its user to do that; docs/backends/redis.md lists what Holdfast needs"},
    Meaning{"ERR The user executing the script can't", Errc::access_denied,
            "does not allow its user to do that in a script; docs/backends/redis.md lists what Holdfast needs"},
    Meaning{"DENIED", Errc::access_denied, "accepts only local connections (protected mode)"},
    Meaning{"ERR AUTH", Errc::access_denied, "has no password, but the URL has one; remove it"},
    Meaning{"ERR invalid password", Errc::access_denied, "refused the password of the URL"},
    Meaning{"ERR max number of clients", Errc::exhausted, "has no connection left (maxclients)"},
    Meaning{"OOM", Errc::exhausted, "has no memory left (maxmemory)"},
    Meaning{"MISCONF", Errc::exhausted, "cannot write its data to disk, and so refuses changes"},
    Meaning{"LOADING", Errc::unreachable, "is still loading its data"},
    Meaning{"BUSY", Errc::unreachable, "is busy with a long script of another client"},
    Meaning{"READONLY", Errc::unreachable, "is a replica and cannot be written; give the URL of its primary"},
    Meaning{"MASTERDOWN", Errc::unreachable, "is a replica that has lost its primary"},
    Meaning{"NOREPLICAS", Errc::unreachable, "has fewer replicas than its settings require for a write"},
    Meaning{"CLUSTERDOWN", Errc::unreachable, "belongs to a cluster that is down"},
    Meaning{"TRYAGAIN", Errc::unreachable, "is moving these keys to another node"},
    Meaning{"MOVED", Errc::unsupported, "belongs to a cluster, which redis: does not support; use a single server"},
    Meaning{"ASK ", Errc::unsupported, "belongs to a cluster, which redis: does not support; use a single server"},
    Meaning{"WRONGTYPE", Errc::store_failed,
            "has keys of another program under Holdfast's names; choose another ?prefix= or another database"},
    Meaning{"ERR DB index", Errc::store_failed, "has no database of that number; see its setting `databases`"},
    Meaning{"ERR invalid DB index", Errc::store_failed, "has no database of that number; see its setting `databases`"},
};

const Meaning* meaning_of(std::string_view complaint) {
  for (const Meaning& meaning : meanings) {
    if (complaint.starts_with(meaning.begins)) return &meaning;
  }
  return nullptr;
}

/// Without what the server repeats of our arguments: claims' ids are nobody's business.
std::string_view without_arguments(std::string_view complaint) {
  constexpr std::size_t longest = 200;
  return complaint.substr(0, std::min(complaint.find(", with args"), longest));
}

}  // namespace

spi::Failure explain(std::string_view complaint, std::string_view server) {
  if (const Meaning* meaning = meaning_of(complaint)) {
    return {meaning->code, std::string(server) + " " + std::string(meaning->advice)};
  }
  if (complaint.starts_with("ERR unknown command") || complaint.starts_with("ERR syntax error")) {
    return {Errc::unsupported, std::string(server) +
                                   " does not know a command that Holdfast needs; it must be Redis 6.2 " +
                                   "or newer: " + std::string(without_arguments(complaint))};
  }
  return {Errc::store_failed, std::string(server) + " refused: " + std::string(without_arguments(complaint))};
}

spi::Failure explain_greeting(std::string_view complaint, std::string_view server) {
  if (meaning_of(complaint) != nullptr) return explain(complaint, server);
  return {Errc::access_denied, std::string(server) + " refused the user, the password or the database of the URL"};
}

bool is_forgotten_script(std::string_view complaint) { return complaint.starts_with("NOSCRIPT"); }

spi::Failure not_understood(std::string_view server) {
  return {Errc::store_failed, std::string(server) +
                                  " gave an answer that makes no sense; do all clients have the same " +
                                  "version, and does nothing else write to Holdfast's keys?"};
}

}  // namespace holdfast::redis
