#include "backends/zookeeper/address.hpp"

#include <algorithm>
#include <string_view>

#include "holdfast/error.hpp"

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t max_prefix_bytes = 64;
constexpr std::size_t max_hosts = 64;
constexpr std::string_view usual_port = "2181";

[[noreturn]] void refuse(const std::string& what) { throw Error(Errc::bad_url, "the zookeeper URL " + what); }

void parse_hosts(std::string_view text, Address& address) {
  while (true) {
    const std::size_t comma = text.find(',');
    address.hosts.push_back(kit::Host::parse(text.substr(0, comma), "zookeeper", usual_port));
    if (address.hosts.size() > max_hosts) refuse("names more than " + std::to_string(max_hosts) + " hosts");
    if (comma == std::string_view::npos) return;
    text.remove_prefix(comma + 1);
  }
}

void parse_credentials(std::string_view text, Address& address) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    refuse("needs both a user and a password before the '@', or neither");
  }
  address.user = base::decode_path(text.substr(0, colon));
  address.password = base::decode_path(text.substr(colon + 1));
  if (address.user.find(':') != std::string::npos) refuse("has a ':' in its user, which ZooKeeper's digests cannot");
}

/// As the servers would refuse it, but with a better message.
void parse_chroot(std::string_view text, Address& address) {
  const std::string path = base::decode_path(text);
  if (path.empty() || path == "/") return;
  if (path.ends_with('/') || path.find("//") != std::string::npos || (path + "/").find("/./") != std::string::npos ||
      (path + "/").find("/../") != std::string::npos) {
    refuse("has a chroot with an empty part, '.' or '..'; write for example /services/locks");
  }
  if (path == "/zookeeper" || path.starts_with("/zookeeper/")) refuse("has a chroot that ZooKeeper keeps for itself");
  address.chroot = path;
}

void set_prefix(const std::string& value, Address& address) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (value.empty() || value.size() > max_prefix_bytes || !std::all_of(value.begin(), value.end(), allowed) ||
      value == "." || value == ".." || value == "zookeeper") {
    refuse("has a prefix that is not made of 1 to 64 letters, digits and . _ -");
  }
  address.prefix = value;
}

void set_fair(const std::string& value, Address& address) {
  if (value != "true" && value != "false") refuse("has an option fair that is neither true nor false");
  address.fair = value == "true";
}

}  // namespace

Address Address::parse(const base::Url& url) {
  Address address;
  std::string_view rest = url.rest;
  if (!rest.starts_with("//")) refuse("needs two slashes before the hosts; write for example zookeeper://localhost");
  rest.remove_prefix(2);
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parse_credentials(authority.substr(0, at), address);
    authority.remove_prefix(at + 1);
  }
  parse_hosts(authority, address);
  if (slash != std::string_view::npos) parse_chroot(rest.substr(slash), address);
  for (const auto& [name, value] : url.options) {
    if (name == "prefix") {
      set_prefix(value, address);
    } else if (name == "fair") {
      set_fair(value, address);
    } else {
      refuse("has an unknown option; there are prefix and fair");
    }
  }
  return address;
}

std::string Address::shown() const {
  std::string text = "zookeeper at ";
  for (const kit::Host& host : hosts) text += (&host == hosts.data() ? "" : ",") + host.text();
  return text;
}

}  // namespace holdfast::zookeeper
