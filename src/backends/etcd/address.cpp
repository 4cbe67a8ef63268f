#include "backends/etcd/address.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/percent.hpp"
#include "kit/url/authority.hpp"
#include "kit/url/refuse_url.hpp"

namespace holdfast::etcd {
namespace {

[[noreturn]] void refuse(const std::string& what) { kit::refuse_url("etcd", what); }

/// gRPC would understand other characters as a list of addresses, or as the name of a resolver.
std::string checked(const kit::Host& host) {
  const auto allowed = [](char c) { return base::is_plain_in_names(c) || c == ':'; };
  if (!std::ranges::all_of(host.name, allowed)) {
    refuse("contains no host; use for example etcd://localhost, or etcd://one,two,three for a cluster");
  }
  return host.text();
}

void set_option(const std::string& name, const std::string& value, Address& address) {
  if (name == "prefix") {
    address.prefix = kit::parse_prefix(value, "etcd", "/");
  } else if (!address.uses_tls || !address.tls.set(name, value)) {
    refuse("has an unknown option; supported are prefix and, with etcds:, ca, cert and key");
  }
}

}  // namespace

Address Address::parse(const base::Url& url) {
  kit::Authority authority =
      kit::Authority::parse(url.rest, {.store = "etcd", .usual_port = "2379", .may_have_path = false});
  Address address;
  address.uses_tls = url.scheme == "etcds";
  address.user = std::move(authority.user);
  address.password = std::move(authority.password);
  for (const kit::Host& host : authority.hosts) address.servers.push_back(checked(host));
  for (const auto& [name, value] : url.options) set_option(name, value, address);
  address.tls.check("etcd");
  return address;
}

std::string Address::shown() const {
  std::string text = "etcd at " + servers.front();
  if (servers.size() > 1) text += " (or another of its " + std::to_string(servers.size()) + " servers)";
  return text;
}

}  // namespace holdfast::etcd
