#include "base/fork.hpp"

#include <pthread.h>

#include <atomic>

namespace holdfast::base {
namespace {

std::atomic<std::uint64_t> generation{0};

/// A list of what is never destroyed: what can be reached is no leak.
struct Kept {
  const void* object;
  Kept* next;
};
std::atomic<Kept*> kept{nullptr};

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++generation; });

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void keep_for_ever(const void* belongs_to_the_parent) noexcept {
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory for it, the program may end
  auto* added = new Kept{belongs_to_the_parent, kept.load()};
  while (!kept.compare_exchange_weak(added->next, added)) {
  }
}

}  // namespace holdfast::base
