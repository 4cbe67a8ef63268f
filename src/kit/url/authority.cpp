#include "kit/url/authority.hpp"

#include "base/url.hpp"
#include "kit/url/refuse_url.hpp"

namespace holdfast::kit {
namespace {

void parse_credentials(std::string_view text, const Authority::Rules& rules, Authority& authority) {
  const std::size_t colon = text.find(':');
  if (!rules.needs_user && colon == std::string_view::npos) {
    refuse_url(rules.store,
               "has a user but no password; write user:password@host, or :password@host for the default user");
  }
  if (rules.needs_user && (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size())) {
    refuse_url(rules.store, "needs a user and a password before the '@'; write user:password@host");
  }
  authority.user = base::decode_path(text.substr(0, colon));
  authority.password = base::decode_path(text.substr(colon + 1));
}

void parse_hosts(std::string_view text, const Authority::Rules& rules, Authority& authority) {
  for (;;) {
    const std::size_t comma = text.find(',');
    authority.hosts.push_back(Host::parse(text.substr(0, comma), rules.store, rules.usual_port));
    if (comma == std::string_view::npos) return;
    if (authority.hosts.size() == rules.most_hosts) {
      refuse_url(rules.store, "must not name more than " + std::to_string(rules.most_hosts) +
                                  (rules.most_hosts == 1 ? " host" : " hosts"));
    }
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Authority Authority::parse(std::string_view rest, const Rules& rules) {
  if (!rest.starts_with("//")) {
    refuse_url(rules.store, "needs two slashes before the host; write for example " + rules.store + "://localhost");
  }
  rest.remove_prefix(2);
  Authority authority;
  if (rules.may_have_path) {
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos) authority.path = rest.substr(slash);
    rest = rest.substr(0, slash);
  } else if (rest.ends_with('/')) {
    rest.remove_suffix(1);
  }
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    parse_credentials(rest.substr(0, at), rules, authority);
    rest.remove_prefix(at + 1);
  }
  if (rest.find('/') != std::string_view::npos) {
    refuse_url(rules.store, "has a path, but " + rules.store + " has none; write ?prefix=NAME");
  }
  parse_hosts(rest, rules, authority);
  return authority;
}

}  // namespace holdfast::kit
