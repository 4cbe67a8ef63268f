#include "backends/zookeeper/server_list.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "kit/net/host_addresses.hpp"

namespace holdfast::zookeeper {

namespace {

void add(std::vector<std::string>& all, const kit::HostAddresses& found, const std::string& port) {
  for (const kit::SocketAddress& each : found.addresses) {
    std::array<char, NI_MAXHOST> host = {};
    const auto* const address = reinterpret_cast<const sockaddr*>(&each.storage);
    if (::getnameinfo(address, each.length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    all.push_back(std::string(host.data()) + ":" + port);
  }
}

ServerList list_of(std::vector<std::string> all) {
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  std::shuffle(all.begin(), all.end(), base::Random(base::Random::fresh_seed()));
  ServerList list;
  for (const std::string& each : all) list.text += (list.text.empty() ? "" : ",") + each;
  return list;
}

}  // namespace

std::size_t ServerList::size() const {
  return text.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(text, ',')) + 1;
}

ServerList ServerList::of_numbers(const std::vector<kit::Host>& hosts) {
  std::vector<std::string> all;
  for (const kit::Host& host : hosts) {
    const auto found = kit::HostAddresses::of_number(host.name, host.port);
    if (found.error != 0) return {.error = found.error};
    add(all, found, host.port);
  }
  return list_of(std::move(all));
}

ServerList ServerList::look_up(const std::vector<kit::Host>& hosts) {
  std::vector<std::string> all;
  int error = 0;
  for (const kit::Host& host : hosts) {
    const auto found = kit::HostAddresses::look_up(host.name, host.port);
    if (found.error != 0) error = found.error;
    add(all, found, host.port);
  }
  if (all.empty()) return {.error = error};
  return list_of(std::move(all));
}

}  // namespace holdfast::zookeeper
