#include "backends/etcd/address.hpp"

#include <algorithm>
#include <string_view>

#include "holdfast/error.hpp"
#include "kit/url/host.hpp"

namespace holdfast::etcd {
namespace {

constexpr std::size_t max_prefix_bytes = 64;
constexpr std::string_view usual_port = "2379";

[[noreturn]] void refuse(const std::string& what) { throw Error(Errc::bad_url, "the etcd URL " + what); }

std::string parse_server(std::string_view text) {
  const kit::Host host = kit::Host::parse(text, "etcd", usual_port);
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == ':';
  };
  if (!std::all_of(host.name.begin(), host.name.end(), allowed)) {
    refuse("names no host; write for example etcd://localhost, or etcd://one,two,three for a cluster");
  }
  return host.text();
}

void parse_credentials(std::string_view text, Address& address) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    refuse("needs a user and a password before the '@'; write user:password@host");
  }
  address.user = base::decode_path(text.substr(0, colon));
  address.password = base::decode_path(text.substr(colon + 1));
}

void parse_servers(std::string_view rest, Address& address) {
  if (!rest.starts_with("//")) refuse("needs two slashes before the host; write for example etcd://localhost");
  rest.remove_prefix(2);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    parse_credentials(rest.substr(0, at), address);
    rest.remove_prefix(at + 1);
  }
  if (rest.find('/') != std::string_view::npos) refuse("has a path, which etcd has not; write ?prefix=NAME");
  for (;;) {
    const std::size_t comma = rest.find(',');
    address.servers.push_back(parse_server(rest.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    rest.remove_prefix(comma + 1);
  }
}

void set_prefix(const std::string& value, Address& address) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == '/';
  };
  if (value.empty() || value.size() > max_prefix_bytes || !std::all_of(value.begin(), value.end(), allowed)) {
    refuse("has a prefix that is not made of 1 to 64 letters, digits and . _ - /");
  }
  address.prefix = value;
}

void set_option(const std::string& name, const std::string& value, Address& address) {
  if (name == "prefix") {
    set_prefix(value, address);
  } else if (address.uses_tls && name == "ca") {
    address.tls.authorities_file = value;
  } else if (address.uses_tls && name == "cert") {
    address.tls.certificate_file = value;
  } else if (address.uses_tls && name == "key") {
    address.tls.key_file = value;
  } else {
    refuse("has an unknown option; there is prefix, and with etcds: also ca, cert and key");
  }
}

}  // namespace

Address Address::parse(const base::Url& url) {
  Address address;
  address.uses_tls = url.scheme == "etcds";
  parse_servers(url.rest, address);
  for (const auto& [name, value] : url.options) set_option(name, value, address);
  if (address.tls.certificate_file.empty() != address.tls.key_file.empty()) {
    refuse("needs both cert and key, or neither");
  }
  return address;
}

std::string Address::shown() const {
  std::string text = "etcd at " + servers.front();
  if (servers.size() > 1) text += " (or another of its " + std::to_string(servers.size()) + " servers)";
  return text;
}

}  // namespace holdfast::etcd
