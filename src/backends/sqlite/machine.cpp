#include "backends/sqlite/machine.hpp"

#include <cerrno>
#include <fstream>
#include <string_view>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

/// Leases are compared between processes, so all must read the same clock.
void refuse_shifted_clock() {
  std::ifstream offsets("/proc/self/timens_offsets");  // absent where the kernel has no time namespaces
  for (std::string clock, seconds, nanoseconds; offsets >> clock >> seconds >> nanoseconds;) {
    if (clock == "boottime" && (seconds != "0" || nanoseconds != "0")) {
      throw Refusal(
          Errc::unsupported,
          "this process runs in a time namespace with a shifted boot clock, which a sqlite: store cannot share "
          "with others; run it without --boottime");
    }
  }
}

}  // namespace

Machine Machine::real() {
  Machine machine;
  errno = 0;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  if (!file && (errno == EMFILE || errno == ENFILE)) {
    throw Refusal(Errc::exhausted,
                  "this process has no descriptor left to open a sqlite: store with; raise the limit on open files "
                  "(ulimit -n)");
  }
  std::getline(file, machine.boot_id);
  if (machine.boot_id.empty()) {
    throw Refusal(
        Errc::unsupported,
        "cannot read /proc/sys/kernel/random/boot_id, which tells a sqlite: store whether the machine has been "
        "restarted; mount /proc");
  }
  refuse_shifted_clock();
  return machine;
}

}  // namespace holdfast::sqlite
