#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/fork.hpp"
#include "holdfast/ids/counter_metrics.hpp"
#include "ids/answer.hpp"
#include "ids/counter_register.hpp"

namespace holdfast::ids {

/// The numbers from `first` to before `end`.
struct Numbers {
  std::int64_t first = 0;
  std::int64_t end = 0;

  std::int64_t size() const noexcept { return end - first; }
  friend bool operator==(const Numbers&, const Numbers&) = default;
};

/// A whole number in decimal, as Register::add() writes it. Empty if it is anything else.
std::optional<std::int64_t> number_in(std::string_view text);

/// What a generator knows about a counter in a register: how far it goes, and the largest number that the store has ever
/// answered. The latter is the floor: an answer to a later request that is not above it shows that the store has lost
/// what it had acknowledged. Thread-safe.
struct Counter {
  static constexpr std::int64_t largest_last = std::numeric_limits<std::int64_t>::max() - 1;

  const std::string name;  ///< as messages name it
  const std::int64_t last = largest_last;
  const std::int64_t gap_after_loss = 0;

  const std::uint64_t forks_before = base::fork_generation();
  std::atomic<std::int64_t> floor = 0;
  std::atomic<std::uint64_t> issued = 0;
  std::atomic<std::uint64_t> burnt = 0;
  std::atomic<std::uint64_t> refused = 0;
  std::atomic<std::uint64_t> went_back = 0;

  void raise_floor(std::int64_t to) noexcept;
  CounterMetrics metrics() const noexcept;
};

/// Errc::forked in a forked child of the process that made the counter. Asked before any mutex is touched.
std::optional<Failure> why_not_here(const Counter& counter);

/// Takes the next numbers of a counter: `count` of them, or the last ones there are if those are fewer, but `at_least`
/// so many.
///
/// Numbers that the store may have given without saying so are burnt: nobody will have them, because the next request
/// yields larger ones. Answers below the floor are burnt, too; then the register is raised above the floor and a gap,
/// and the request is made again.
///
/// Errc::end_of_life if there are not enough left; Errc::store_failed if the register contains something else.
Steps<Numbers> take_numbers(std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source,
                            std::int64_t count, std::int64_t at_least);

}  // namespace holdfast::ids
