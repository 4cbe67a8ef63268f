#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <stdexcept>
#include <string>

#include "turns.hpp"

namespace holdfast::bench {

/// Turns in a file, so that programs that know its path have them in common.
class MappedTurns {
 public:
  /// One process makes the file, before the others come.
  enum class As { maker, user };

  MappedTurns(const std::string& file, As as) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC | (as == As::maker ? O_CREAT | O_EXCL : 0), 0600);
    if (descriptor >= 0 && ::ftruncate(descriptor, sizeof(Turns)) == 0) {
      memory_ = ::mmap(nullptr, sizeof(Turns), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    }
    ::close(descriptor);
    if (memory_ == MAP_FAILED) throw std::runtime_error("cannot map " + file);
    if (as == As::maker) new (memory_) Turns;
  }
  ~MappedTurns() { ::munmap(memory_, sizeof(Turns)); }
  MappedTurns(const MappedTurns&) = delete;
  MappedTurns& operator=(const MappedTurns&) = delete;

  Turns* operator->() const { return static_cast<Turns*>(memory_); }

 private:
  void* memory_ = MAP_FAILED;
};

}  // namespace holdfast::bench
