#include "core/identity.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "holdfast/error.hpp"

namespace holdfast::core {

Random::Seed Random::fresh_seed() {
  Seed seed{};
  auto* bytes = reinterpret_cast<char*>(seed.data());
  for (std::size_t filled = 0; filled < sizeof(seed);) {
    const ssize_t got = ::getrandom(bytes + filled, sizeof(seed) - filled, 0);
    if (got < 0 && errno != EINTR) {
      throw Error(Errc::exhausted, "no random numbers from the kernel: " + std::generic_category().message(errno));
    }
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return seed;
}

ClientIdentity this_process(std::string label, std::string command, Random& random) {
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
