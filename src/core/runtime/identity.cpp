#include "core/runtime/identity.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

namespace holdfast::core {

ClientIdentity this_process(std::string label, std::string command, base::Random& random) {
  std::array<char, 33> id{};
  std::snprintf(id.data(), id.size(), "%016lx%016lx", random.next(), random.next());
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  if (command.empty()) std::getline(std::ifstream("/proc/self/comm"), command);
  return {.id = id.data(),
          .host = host.data(),
          .pid = ::getpid(),
          .command = std::move(command),
          .label = std::move(label)};
}

}  // namespace holdfast::core
