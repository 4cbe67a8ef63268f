#include "cli/demo/gateway.hpp"

#include <fstream>
#include <stdexcept>
#include <string>

namespace holdfast::cli::demo {

PhoneGateway::PhoneGateway(const std::filesystem::path& folder)
    : messages_(folder / "messages"), fence_(folder / "gateway.fence") {}

void PhoneGateway::send(HostId sender) {
  std::ofstream file(messages_, std::ios::app);
  file << name_of(sender) << '\n' << std::flush;
  if (!file) throw std::runtime_error("cannot write to '" + messages_.string() + "'");
}

bool PhoneGateway::send(HostId sender, Token token) {
  return fence_.write(token, [&] { send(sender); });
}

std::vector<HostId> PhoneGateway::senders() const {
  std::vector<HostId> found;
  std::ifstream file(messages_);
  for (std::string line; std::getline(file, line);) {
    found.push_back(line == name_of(HostId::a) ? HostId::a : HostId::b);
  }
  return found;
}

}  // namespace holdfast::cli::demo
