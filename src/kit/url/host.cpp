#include "kit/url/host.hpp"

#include <charconv>

#include "base/url.hpp"
#include "kit/url/refuse_url.hpp"

namespace holdfast::kit {

Host Host::parse(std::string_view text, const std::string& store, std::string_view usual_port) {
  const auto refuse = [&](const std::string& what) { refuse_url(store, what); };
  Host host;
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
    host.name = base::decode_path(text.substr(0, colon));
    if (colon != std::string_view::npos) port = text.substr(colon + 1);
    if (port.find(':') != std::string_view::npos) refuse("needs [brackets] around an address that contains colons");
  }
  if (host.name.empty()) refuse("names no host; write for example " + store + "://localhost");
  if (port.empty()) port = usual_port;
  int number = 0;
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || stop != port.data() + port.size() || number < 1 || number > 65535) {
    refuse("needs a number from 1 to 65535 as its port");
  }
  host.port = std::to_string(number);
  return host;
}

std::string Host::text() const {
  const bool numeric = name.find(':') != std::string::npos;
  return (numeric ? "[" + name + "]" : name) + ":" + port;
}

}  // namespace holdfast::kit
