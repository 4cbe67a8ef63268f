#include "backends/redis/redis_url.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "holdfast/error.hpp"
#include "kit/url/host.hpp"

namespace holdfast::redis {
namespace {

constexpr std::size_t max_prefix_bytes = 64;
constexpr std::string_view usual_port = "6379";

[[noreturn]] void refuse(const std::string& what) { throw Error(Errc::bad_url, "the redis URL " + what); }

int parse_number(std::string_view text, int least, int most, const std::string& what) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < least || number > most) {
    refuse("needs a number from " + std::to_string(least) + " to " + std::to_string(most) + " as its " + what);
  }
  return number;
}

int parse_database(std::string_view text) { return parse_number(text, 0, 1 << 20, "database"); }

void parse_credentials(std::string_view text, ServerAddress& address) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    refuse("has a user but no password; write user:password@host, or :password@host for the default user");
  }
  address.user = base::decode_path(text.substr(0, colon));
  address.password = base::decode_path(text.substr(colon + 1));
}

void parse_server(std::string_view rest, ServerAddress& address) {
  if (!rest.starts_with("//")) refuse("needs two slashes before the host; write for example redis://localhost");
  rest.remove_prefix(2);
  const std::size_t slash = rest.find('/');
  std::string_view authority = rest.substr(0, slash);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    parse_credentials(authority.substr(0, at), address);
    authority.remove_prefix(at + 1);
  }
  kit::Host host = kit::Host::parse(authority, "redis", usual_port);
  address.host = std::move(host.name);
  address.port = std::move(host.port);
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    address.database = parse_database(rest.substr(slash + 1));
  }
}

void parse_path(std::string_view rest, ServerAddress& address) {
  address.path = base::decode_path(rest.starts_with("///") ? rest.substr(2) : rest);
  if (!address.path.starts_with('/') || address.path.starts_with("//")) {
    refuse("needs an absolute path of a socket; write redis+unix:/path/to.sock");
  }
}

void set_prefix(const std::string& value, RedisUrl& url) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == ':' || c == '/';
  };
  if (value.empty() || value.size() > max_prefix_bytes || !std::all_of(value.begin(), value.end(), allowed)) {
    refuse("has a prefix that is not made of 1 to 64 letters, digits and . _ - : /");
  }
  url.prefix = value;
}

void set_option(const std::string& name, const std::string& value, RedisUrl& parsed) {
  ServerAddress& address = parsed.server;
  const bool is_tls = address.transport == ServerAddress::Transport::tls;
  const bool is_unix = address.transport == ServerAddress::Transport::unix_socket;
  if (name == "prefix") return set_prefix(value, parsed);
  if (name == "layout") {
    if (value != "queue" && value != "plain") {
      refuse("wants a layout that does not exist; there are layout=queue and layout=plain");
    }
    parsed.layout = value == "plain" ? RedisUrl::Layout::plain : RedisUrl::Layout::queue;
    return;
  }
  if (is_unix && name == "db") {
    address.database = parse_database(value);
  } else if (is_unix && name == "user") {
    address.user = value;
  } else if (is_unix && name == "password") {
    address.password = value;
  } else if (is_tls && name == "ca") {
    address.tls.authorities_file = value;
  } else if (is_tls && name == "cert") {
    address.tls.certificate_file = value;
  } else if (is_tls && name == "key") {
    address.tls.key_file = value;
  } else if (is_tls && name == "verify") {
    if (value != "yes" && value != "no") refuse("must say verify=yes or verify=no");
    address.tls.verify = value == "yes";
  } else {
    refuse(
        "has an unknown option; there are prefix and layout, with rediss: also ca, cert, key and verify, and with "
        "redis+unix: also db, user and password");
  }
}

}  // namespace

RedisUrl RedisUrl::parse(const base::Url& url) {
  using Transport = ServerAddress::Transport;
  RedisUrl parsed;
  ServerAddress& address = parsed.server;
  if (url.scheme == "redis+unix") {
    address.transport = Transport::unix_socket;
    parse_path(url.rest, address);
  } else {
    address.transport = url.scheme == "rediss" ? Transport::tls : Transport::tcp;
    parse_server(url.rest, address);
  }
  for (const auto& [name, value] : url.options) set_option(name, value, parsed);
  if (!address.user.empty() && address.password.empty()) refuse("has a user but no password");
  if (address.tls.certificate_file.empty() != address.tls.key_file.empty()) {
    refuse("needs both cert and key, or neither");
  }
  return parsed;
}

}  // namespace holdfast::redis
