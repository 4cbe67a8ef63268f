#include "backends/etcd/failures.hpp"

#include <array>
#include <string_view>

namespace holdfast::etcd {
namespace {

// gRPC's numbers.
constexpr int cancelled = 1;
constexpr int unknown = 2;
constexpr int invalid_argument = 3;
constexpr int deadline_exceeded = 4;
constexpr int not_found = 5;
constexpr int permission_denied = 7;
constexpr int resource_exhausted = 8;
constexpr int failed_precondition = 9;
constexpr int no_such_method = 12;
constexpr int internal = 13;
constexpr int unavailable = 14;
constexpr int unauthenticated = 16;

struct Meaning {
  std::string_view contains;
  Errc code;
  std::string_view advice;
};

// What etcd says when it refuses a call without having done anything.
constexpr std::array refusals = {
    Meaning{"user name is empty", Errc::access_denied,
            "requires a password; put it into the URL: etcd://user:password@host"},
    Meaning{"user name not found", Errc::access_denied,
            "requires a password; put it into the URL: etcd://user:password@host"},
    Meaning{"authentication failed", Errc::access_denied, "refused the user name or the password of the URL"},
    Meaning{"authentication is not enabled", Errc::access_denied,
            "has no authentication enabled, but the URL contains a password; remove it, or enable authentication"},
    Meaning{"permission denied", Errc::access_denied,
            "does not allow this user to do that; docs/backends/etcd.md lists the permissions that Holdfast needs"},
    Meaning{"invalid auth token", Errc::access_denied, "no longer accepts a token that it has issued"},
    Meaning{"database space exceeded", Errc::exhausted, "has no space left (its alarm NOSPACE is raised)"},
    Meaning{"too many requests", Errc::exhausted, "has too many requests under way"},
    Meaning{"request is too large", Errc::invalid_argument, "refused the request because it is too large"},
    Meaning{"too many operations", Errc::store_failed,
            "allows fewer operations in a transaction than Holdfast needs; raise its --max-txn-ops to 128"},
    Meaning{"etcdserver: no leader", Errc::unreachable, "has no leader: most of its servers cannot be reached"},
    Meaning{"not capable", Errc::unsupported, "is too old; it must be version 3.4 or newer"},
};

// gRPC does not say which of the two reasons it is.
constexpr std::string_view not_trusted =
    "has a certificate that cannot be trusted: it has expired, or the authority that signed it is not known here; name "
    "the authority's file as ?ca=file";
constexpr std::string_view of_another_host =
    "has a certificate for another host; use a host name that the certificate contains, or have one issued for this "
    "host";
constexpr std::string_view too_old_tls =
    "only supports versions of TLS before 1.2, which are not safe; enable 1.2 or newer";

// Why there is no connection, in gRPC's words.
constexpr std::array no_connections = {
    Meaning{"certificate verify failed", Errc::access_denied, not_trusted},
    Meaning{"CERTIFICATE_VERIFY_FAILED", Errc::access_denied, not_trusted},
    Meaning{"Peer name", Errc::access_denied, of_another_host},
    Meaning{"Hostname Verification", Errc::access_denied, of_another_host},
    Meaning{"rotocol version", Errc::store_failed, too_old_tls},
    Meaning{"PROTOCOL_VERSION", Errc::store_failed, too_old_tls},
    Meaning{"unsupported protocol", Errc::store_failed, too_old_tls},
    Meaning{"UNSUPPORTED_PROTOCOL", Errc::store_failed, too_old_tls},
    Meaning{"alert", Errc::access_denied,
            "refused the TLS connection; it may require a client certificate: ?cert=file&key=file"},
    Meaning{"wrong version number", Errc::store_failed, "does not support TLS on this port; use etcd: or another port"},
    Meaning{"WRONG_VERSION_NUMBER", Errc::store_failed, "does not support TLS on this port; use etcd: or another port"},
    Meaning{"empty address list", Errc::access_denied,
            "cannot be contacted with the certificate and the key of the URL; check that they belong together"},
    Meaning{"Connection refused", Errc::unreachable, "refused the connection: no server is listening there"},
    Meaning{"DNS resolution failed", Errc::unreachable, "cannot be found: the host name has no address"},
    Meaning{"Domain name not found", Errc::unreachable, "cannot be found: the host name has no address"},
};

template <std::size_t count>
const Meaning* find(const std::array<Meaning, count>& meanings, std::string_view message) {
  for (const Meaning& meaning : meanings) {
    if (message.find(meaning.contains) != std::string_view::npos) return &meaning;
  }
  return nullptr;
}

std::string shortened(std::string_view message) {
  constexpr std::size_t longest = 200;
  return std::string(message.substr(0, longest));
}

}  // namespace

spi::Failure explain(const CallStatus& status, Effect effect, const Address& address) {
  if (!status.sent) {
    if (const Meaning* const why = find(no_connections, status.message)) {
      return {why->code, address.shown() + " " + std::string(why->advice)};
    }
    return {Errc::unreachable, "cannot connect to " + address.shown() +
                                   (status.message.empty() ? std::string() : ": " + shortened(status.message))};
  }
  if (const Meaning* const why = find(refusals, status.message)) {
    return {why->code, address.shown() + " " + std::string(why->advice)};
  }
  const Errc lost = effect == Effect::some ? Errc::in_doubt : Errc::unreachable;
  switch (status.code) {
    case cancelled:
    case deadline_exceeded: return {lost, address.shown() + " did not answer in time"};
    case unavailable: return {lost, "the connection to " + address.shown() + " was lost: " + shortened(status.message)};
    case permission_denied:
    case unauthenticated: return {Errc::access_denied, address.shown() + " refused: " + shortened(status.message)};
    case resource_exhausted: return {Errc::exhausted, address.shown() + " refused: " + shortened(status.message)};
    case no_such_method:
      return {Errc::unsupported,
              "the server that answers as " + address.shown() + " does not support version 3 of etcd's interface"};
    case unknown:
    case internal: return {lost, address.shown() + " failed: " + shortened(status.message)};
    default: return {Errc::store_failed, address.shown() + " refused: " + shortened(status.message)};
  }
}

bool wants_a_new_token(const CallStatus& status) {
  return status.code == unauthenticated ||
         (status.code == invalid_argument && status.message.find("revision in header is old") != std::string::npos);
}

bool is_complaint(const CallStatus& status) {
  return status.sent && (status.code == not_found || status.code == permission_denied ||
                         status.code == invalid_argument || status.code == resource_exhausted);
}

bool is_lost_lease(const CallStatus& status) {
  return status.code == not_found && status.message.find("lease not found") != std::string::npos;
}

bool was_given_up(const CallStatus& status) { return !status.sent && status.code == cancelled; }

bool is_trouble_of_one_server(const CallStatus& status) {
  return !status.sent || status.code == unavailable || status.code == deadline_exceeded ||
         (status.code == failed_precondition && status.message.find("leader") != std::string::npos);
}

spi::Failure not_understood(const Address& address) {
  return {Errc::store_failed, address.shown() + " gave an answer that does not fit the request"};
}

spi::Failure is_closed() { return {Errc::closed, "the client is closed"}; }

}  // namespace holdfast::etcd
