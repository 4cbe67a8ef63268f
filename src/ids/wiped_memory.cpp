#include "ids/wiped_memory.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cassert>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "holdfast/error.hpp"

namespace holdfast::ids {
namespace {

/// The blocks that the kernel does not wipe. A child has no other threads, and fork() may not be waited for, so the list
/// only grows: a block that was given back stays in it, without memory.
struct Listed {
  std::atomic<void*> memory;
  Listed* next;
};
std::atomic<Listed*> listed{nullptr};
constexpr std::size_t listed_bytes = 4096;

void wipe_listed() {
  for (Listed* each = listed.load(); each != nullptr; each = each->next) {
    if (void* const memory = each->memory.load()) std::memset(memory, 0, listed_bytes);
  }
}

Listed& list(void* memory) {
  static const int registered = pthread_atfork(nullptr, nullptr, wipe_listed);
  if (registered != 0) throw Error(Errc::exhausted, "no memory for a handler of fork()");
  for (Listed* each = listed.load(); each != nullptr; each = each->next) {
    void* nothing = nullptr;
    if (each->memory.compare_exchange_strong(nothing, memory)) return *each;
  }
  auto* added = new Listed{memory, listed.load()};
  while (!listed.compare_exchange_weak(added->next, added)) {
  }
  return *added;
}

}  // namespace

struct WipedMemory::Block {
  explicit Block(WipedBy preferred)
      : memory(mmap(nullptr, block_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory == MAP_FAILED) {
      throw Error(Errc::exhausted, "no memory for ids: " + std::generic_category().message(errno));
    }
    if (preferred == WipedBy::kernel && madvise(memory, block_bytes, MADV_WIPEONFORK) == 0) return;
    try {
      entry = &list(memory);
    } catch (...) {
      munmap(memory, block_bytes);
      throw;
    }
  }
  ~Block() {
    if (entry != nullptr) entry->memory = nullptr;
    munmap(memory, block_bytes);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  void* memory = nullptr;
  Listed* entry = nullptr;
};

WipedMemory::WipedMemory(WipedBy preferred) : preferred_(preferred) {
  static_assert(block_bytes == listed_bytes);
  alive_ = &make<std::atomic<bool>>(true);
}

WipedMemory::~WipedMemory() = default;

void* WipedMemory::allocate(std::size_t bytes, std::size_t alignment) {
  assert(bytes <= block_bytes && alignment <= block_bytes);
  std::size_t at = (used_ + alignment - 1) / alignment * alignment;
  if (blocks_.empty() || at + bytes > block_bytes) {
    blocks_.push_back(std::make_unique<Block>(preferred_));
    at = 0;
  }
  used_ = at + bytes;
  return static_cast<char*>(blocks_.back()->memory) + at;
}

}  // namespace holdfast::ids
