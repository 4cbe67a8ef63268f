#include "holdfast/ids/uuid4.hpp"

#include <array>
#include <cstdint>

#include "ids/thread_state.hpp"

namespace holdfast::ids {
namespace {

using Numbers = std::array<std::uint64_t, 2>;

Uuid uuid(const Numbers& random) {
  constexpr std::uint64_t version_bits = 0xf000;
  constexpr std::uint64_t variant_bits = std::uint64_t{3} << 62;
  return {(random[0] & ~version_bits) | 0x4000, (random[1] & ~variant_bits) | std::uint64_t{2} << 62};
}

template <class Source>
void fill_from(Source& source, std::span<Uuid> ids) {
  Uuid* to = ids.data();
  source.template supply<2>(ids.size(), [&to](const Numbers& random) { *to++ = uuid(random); });
}

}  // namespace

Uuid Uuid4::next() {
  ThreadState& thread = thread_state();
  return uuid(randomness_ == Randomness::secure ? thread.secure.take<2>() : thread.fast.take<2>());
}

void Uuid4::fill(std::span<Uuid> ids) {
  ThreadState& thread = thread_state();
  if (randomness_ == Randomness::secure) {
    fill_from(thread.secure, ids);
  } else {
    fill_from(thread.fast, ids);
  }
}

Traits Uuid4::traits() noexcept {
  return {.kind = "uuid4",
          .unique_by = "122 random bits",
          .order = Order::none,
          .carries_time = false,
          .in_an_outage = "it goes on: it needs no store"};
}

}  // namespace holdfast::ids
