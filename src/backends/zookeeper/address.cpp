#include "backends/zookeeper/address.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "holdfast/error.hpp"

namespace holdfast::zookeeper {
namespace {

constexpr std::size_t max_prefix_bytes = 64;
constexpr std::size_t max_hosts = 64;

[[noreturn]] void refuse(const std::string& what) { throw Error(Errc::bad_url, "the zookeeper URL " + what); }

std::string parse_port(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < 1 || number > 65535) {
    refuse("needs a number from 1 to 65535 as its port");
  }
  return std::to_string(number);
}

Address::Host parse_host(std::string_view text) {
  Address::Host host;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) refuse("has a '[' without a ']' around an address");
    host.name = std::string(text.substr(1, bracket - 1));
    port = text.substr(bracket + 1);
    if (!port.empty() && !port.starts_with(':')) refuse("has something other than a port after a ']'");
    if (!port.empty()) port.remove_prefix(1);
  } else {
    const std::size_t colon = text.find(':');
    host.name = spi::decode_path(text.substr(0, colon));
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (port.find(':') != std::string_view::npos) refuse("needs [brackets] around an address that contains colons");
  }
  if (host.name.empty()) refuse("has an empty host; write for example zookeeper://localhost");
  if (!port.empty()) host.port = parse_port(port);
  return host;
}

void parse_hosts(std::string_view text, Address& address) {
  while (true) {
    const std::size_t comma = text.find(',');
    address.hosts.push_back(parse_host(text.substr(0, comma)));
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
  address.user = spi::decode_path(text.substr(0, colon));
  address.password = spi::decode_path(text.substr(colon + 1));
  if (address.user.find(':') != std::string::npos) refuse("has a ':' in its user, which ZooKeeper's digests cannot");
}

/// As the servers would refuse it, but with a better message.
void parse_chroot(std::string_view text, Address& address) {
  const std::string path = spi::decode_path(text);
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

Address Address::parse(const spi::Url& url) {
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
  for (const Host& host : hosts) {
    if (&host != hosts.data()) text += ',';
    const bool numeric = host.name.find(':') != std::string::npos;
    text += (numeric ? "[" + host.name + "]" : host.name) + ":" + host.port;
  }
  return text;
}

}  // namespace holdfast::zookeeper
