#include "backends/zookeeper/failures.hpp"

namespace holdfast::zookeeper {

spi::Failure explain(const Reply& reply, const Address& address, bool doubtful) {
  const std::string store = address.shown();
  switch (reply.outcome) {
    case Outcome::lost:
      if (doubtful)
        return {Errc::in_doubt, "the connection to " + store + " was lost; the request may have been executed"};
      return {Errc::unreachable, "the connection to " + store + " was lost"};
    case Outcome::not_sent: return {Errc::unreachable, "there is no connection to " + store};
    case Outcome::session_ended: return {Errc::unreachable, "the session with " + store + " has expired"};
    case Outcome::no_access:
      return {Errc::access_denied,
              store + " denied access below " + address.root() +
                  (address.user.empty() ? "; put the user and the password into the URL: zookeeper://user:password@host"
                                        : "; its nodes belong to another user, or the password is wrong")};
    case Outcome::no_node:
      return {Errc::unreachable, store + " is removing nodes below " + address.root() + "; try again"};
    default: return {Errc::store_failed, store + " refused: " + (reply.text.empty() ? "conflict" : reply.text)};
  }
}

spi::Failure too_long(const Address& address, spi::milliseconds wanted, spi::milliseconds granted) {
  return {Errc::unsupported, "a lease of " + std::to_string(wanted.count()) + " ms is longer than the session of " +
                                 std::to_string(granted.count()) + " ms that " + address.shown() +
                                 " has granted; use a shorter ttl, or raise maxSessionTimeout on the servers"};
}

spi::Failure no_chroot(const Address& address) {
  return {Errc::store_failed, address.shown() + " has no node " + address.chroot +
                                  ", the chroot of the URL; create it, or correct the URL"};
}

}  // namespace holdfast::zookeeper
