#include "backends/zookeeper/address.hpp"

#include <string_view>
#include <utility>

#include "kit/url/authority.hpp"
#include "kit/url/options.hpp"
#include "kit/url/refuse_url.hpp"

namespace holdfast::zookeeper {
namespace {

[[noreturn]] void refuse(const std::string& what) { kit::refuse_url("zookeeper", what); }

/// As the servers would refuse it, but with a better message.
void parse_chroot(std::string_view text, Address& address) {
  const std::string path = base::decode_path(text);
  if (path.empty() || path == "/") return;
  if (path.ends_with('/') || path.find("//") != std::string::npos || (path + "/").find("/./") != std::string::npos ||
      (path + "/").find("/../") != std::string::npos) {
    refuse("has a chroot with an empty part, '.' or '..'; write for example /services/locks");
  }
  if (path == "/zookeeper" || path.starts_with("/zookeeper/"))
    refuse("has a chroot that ZooKeeper reserves for itself");
  address.chroot = path;
}

void set_prefix(const std::string& value, Address& address) {
  address.prefix = kit::parse_prefix(value, "zookeeper", "");
  if (value == "." || value == ".." || value == "zookeeper") refuse("has a prefix that ZooKeeper reserves for itself");
}

void set_fair(const std::string& value, Address& address) {
  if (value != "true" && value != "false") refuse("must say fair=true or fair=false");
  address.fair = value == "true";
}

}  // namespace

Address Address::parse(const base::Url& url) {
  kit::Authority authority = kit::Authority::parse(url.rest, {.store = "zookeeper", .usual_port = "2181"});
  Address address;
  address.user = std::move(authority.user);
  address.password = std::move(authority.password);
  if (address.user.find(':') != std::string::npos) {
    refuse("has a ':' in its user name, which ZooKeeper does not support");
  }
  address.hosts = std::move(authority.hosts);
  parse_chroot(authority.path, address);
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
