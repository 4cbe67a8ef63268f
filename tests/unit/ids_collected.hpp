#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <vector>

#include "holdfast/ids/uuid.hpp"
#include "support/forked_child.hpp"

// What tests of UUIDs share: ids of several threads and processes in one place, and whether any of them repeats.

namespace holdfast::ids::test {

/// How many of `ids` are the same as an earlier one. It compares the whole UUIDs, and looks them up in a table.
inline std::size_t repeats_in(std::span<const Uuid> ids) {
  std::size_t places = 64;
  while (places < ids.size() * 2) places *= 2;
  std::vector<std::uint32_t> table(places, 0);  // 0: free, otherwise one more than an index
  std::uint32_t* const first = table.data();
  std::size_t repeats = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    std::size_t at = std::hash<Uuid>()(ids[i]) & (places - 1);
    while (first[at] != 0 && !(ids[first[at] - 1] == ids[i])) at = (at + 1) & (places - 1);
    if (first[at] != 0) {
      ++repeats;
    } else {
      first[at] = static_cast<std::uint32_t>(i + 1);
    }
  }
  return repeats;
}

/// Room for ids that forked children fill.
class SharedIds {
 public:
  explicit SharedIds(std::size_t size)
      : ids_(static_cast<Uuid*>(
            mmap(nullptr, size * sizeof(Uuid), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))),
        size_(size) {
    if (static_cast<void*>(ids_) == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedIds() { munmap(ids_, size_ * sizeof(Uuid)); }
  SharedIds(const SharedIds&) = delete;
  SharedIds& operator=(const SharedIds&) = delete;

  std::span<Uuid> all() const { return {ids_, size_}; }

 private:
  Uuid* ids_;
  std::size_t size_;
};

/// How many ids repeat if this process makes some with `next`, then forks `children` times, and then all of them make
/// `each`, the parent between the forks and after them.
inline std::size_t repeats_after_forks(const std::function<Uuid()>& next, int children = 4, std::size_t each = 5'000) {
  const auto parts = static_cast<std::size_t>(children) * 2 + 1;
  const SharedIds shared(parts * each);
  std::size_t part = 0;
  const auto make_a_part = [&](std::size_t number) {
    for (Uuid& id : shared.all().subspan(number * each, each)) id = next();
  };
  make_a_part(part++);
  for (int i = 0; i < children; ++i) {
    holdfast::test::ForkedChild child([&](holdfast::test::ChildReport&) { make_a_part(part); });
    ++part;
    make_a_part(part++);
    if (!child.succeeds()) throw std::runtime_error("a forked child failed");
  }
  return repeats_in(shared.all());
}

}  // namespace holdfast::ids::test
