#include "backends/redis/redis_url.hpp"

#include <charconv>
#include <string_view>
#include <utility>

#include "kit/url/authority.hpp"
#include "kit/url/options.hpp"
#include "kit/url/refuse_url.hpp"

namespace holdfast::redis {
namespace {

[[noreturn]] void refuse(const std::string& what) { kit::refuse_url("redis", what); }

int parse_database(std::string_view text) {
  constexpr int most = 1 << 20;
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < 0 || number > most) {
    refuse("needs a number from 0 to " + std::to_string(most) + " as its database");
  }
  return number;
}

void parse_server(std::string_view rest, ServerAddress& address) {
  kit::Authority authority =
      kit::Authority::parse(rest, {.store = "redis", .usual_port = "6379", .most_hosts = 1, .needs_user = false});
  address.user = std::move(authority.user);
  address.password = std::move(authority.password);
  address.host = std::move(authority.hosts.front().name);
  address.port = std::move(authority.hosts.front().port);
  if (authority.path.size() > 1) address.database = parse_database(std::string_view(authority.path).substr(1));
}

void parse_path(std::string_view rest, ServerAddress& address) {
  address.path = base::decode_path(rest.starts_with("///") ? rest.substr(2) : rest);
  if (!address.path.starts_with('/') || address.path.starts_with("//")) {
    refuse("needs an absolute path of a socket; write redis+unix:/path/to.sock");
  }
}

void set_option(const std::string& name, const std::string& value, RedisUrl& parsed) {
  ServerAddress& address = parsed.server;
  const bool is_tls = address.transport == ServerAddress::Transport::tls;
  const bool is_unix = address.transport == ServerAddress::Transport::unix_socket;
  if (name == "prefix") {
    parsed.prefix = kit::parse_prefix(value, "redis", ":/");
    return;
  }
  if (name == "layout") {
    if (value != "queue" && value != "plain") {
      refuse("has an unknown layout; use layout=queue or layout=plain");
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
  } else if (is_tls && name == "verify") {
    if (value != "yes" && value != "no") refuse("must say verify=yes or verify=no");
    address.tls.verify = value == "yes";
  } else if (!is_tls || !address.tls.files.set(name, value)) {
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
  address.tls.files.check("redis");
  return parsed;
}

}  // namespace holdfast::redis
