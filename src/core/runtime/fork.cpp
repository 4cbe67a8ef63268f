#include "core/runtime/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <utility>

namespace holdfast::core {
namespace {

std::atomic<std::uint64_t> generation{0};

/// Reachable for ever, and so no leak.
struct Grave {
  std::shared_ptr<void> buried;
  Grave* next;
};
std::atomic<Grave*> graves{nullptr};

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++generation; });

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

void bury(std::shared_ptr<void> belongs_to_the_parent) noexcept {
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): without memory for it, the program may end
  auto* grave = new Grave{std::move(belongs_to_the_parent), graves.load()};
  while (!graves.compare_exchange_weak(grave->next, grave)) {
  }
}

}  // namespace holdfast::core
