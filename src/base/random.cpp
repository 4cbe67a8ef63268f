#include "base/random.hpp"

#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

#include "holdfast/error.hpp"

namespace holdfast::base {

Random::Seed Random::fresh_seed() {
  Seed seed{};
  auto* bytes = reinterpret_cast<char*>(seed.data());
  for (std::size_t filled = 0; filled < sizeof(seed);) {
    const ssize_t got = ::getrandom(bytes + filled, sizeof(seed) - filled, 0);
    if (got < 0 && errno != EINTR) {
      throw Error(Errc::exhausted,
                  "cannot get random numbers from the kernel: " + std::generic_category().message(errno));
    }
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  return seed;
}

}  // namespace holdfast::base
