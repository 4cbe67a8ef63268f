#include "support/server_clock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::test {
namespace {

constexpr const char* file_name = "offset";

}  // namespace

ServerClock::ServerClock() {
  const std::string file = directory_.path() / file_name;
  const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* memory = MAP_FAILED;
  if (descriptor >= 0 && ftruncate(descriptor, sizeof *offset_) == 0) {
    memory = mmap(nullptr, sizeof *offset_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  }
  const int error = errno;
  close(descriptor);
  if (memory == MAP_FAILED) throw std::system_error(error, std::generic_category(), file);
  offset_ = static_cast<std::atomic<std::int64_t>*>(memory);
}

ServerClock::~ServerClock() { munmap(offset_, sizeof *offset_); }

std::vector<std::string> ServerClock::launcher() const {
  return {"env", std::string("LD_PRELOAD=") + HOLDFAST_CLOCK_SHIM,
          "HOLDFAST_CLOCK_FILE=" + (directory_.path() / file_name).string()};
}

}  // namespace holdfast::test
