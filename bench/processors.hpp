#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace holdfast::bench {

/// Where a process or a thread may run; 0 is the calling thread. Threads that it starts later inherit it.
class Processors {
 public:
  explicit Processors(pid_t pid = 0) : pid_(pid) { ::sched_getaffinity(pid_, sizeof before_, &before_); }
  /// As it was.
  ~Processors() { ::sched_setaffinity(pid_, sizeof before_, &before_); }
  Processors(const Processors&) = delete;
  Processors& operator=(const Processors&) = delete;

  /// Only on one of those where it could run so far.
  void use_only(std::size_t which) const {
    std::vector<std::size_t> usable;
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &before_)) usable.push_back(i);
    }
    if (usable.empty()) return;
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    CPU_SET(usable[which % usable.size()], &chosen);
    ::sched_setaffinity(pid_, sizeof chosen, &chosen);
  }

 private:
  const pid_t pid_;
  cpu_set_t before_ = {};
};

}  // namespace holdfast::bench
