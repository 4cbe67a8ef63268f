#include "allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

// The program's operator new and delete: malloc and free, and counted.

namespace holdfast::bench {
namespace {

thread_local std::uint64_t allocations = 0;
std::atomic<bool> weighing{false};
std::atomic<std::int64_t> weight{0};

std::int64_t chunk_bytes(void* memory) {
  return static_cast<std::int64_t>(malloc_usable_size(memory) + sizeof(std::size_t));
}

void* allocate(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* const memory = alignment == 0 ? std::malloc(size)
                                      : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  if (weighing.load(std::memory_order_relaxed)) weight += chunk_bytes(memory);
  return memory;
}

void deallocate(void* memory) noexcept {
  if (memory != nullptr && weighing.load(std::memory_order_relaxed)) weight -= chunk_bytes(memory);
  std::free(memory);
}

}  // namespace

std::uint64_t allocations_of_this_thread() noexcept { return allocations; }

HeapScale::HeapScale() {
  weight = 0;
  weighing = true;
}
HeapScale::~HeapScale() { weighing = false; }
std::int64_t HeapScale::growth() const { return weight; }

}  // namespace holdfast::bench

using holdfast::bench::allocate;
using holdfast::bench::deallocate;

void* operator new(std::size_t size) { return allocate(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { deallocate(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { deallocate(memory); }
