#include "ids/counter.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::ids {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
static_assert(Counter::largest_last < largest, "the end of a range is a number, too");

std::int64_t saturating_sum(std::int64_t left, std::int64_t right) {
  return left > largest - right ? largest : left + right;
}

Failure too_few_left(const Counter& counter, std::int64_t at_least) {
  const std::string what =
      at_least == 1 ? " has no number left" : " has fewer than " + std::to_string(at_least) + " numbers left";
  return {Errc::end_of_life, counter.name + what + ": its last one is " + std::to_string(counter.last)};
}

Failure not_a_counter(const Counter& counter) {
  return {Errc::store_failed, "what the store has as " + counter.name + " is not a counter of ids"};
}

/// Makes the register contain more than the floor. False: somebody else has written, or that was not necessary.
Steps<bool> raise_register(std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source,
                           std::int64_t floor) {
  auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { source->get(std::move(done)); });
  if (!now.ok()) co_return std::move(now.failure());
  const auto value = now.value().version == 0 ? std::optional<std::int64_t>(0) : number_in(now.value().value);
  if (!value) co_return not_a_counter(*counter);
  if (*value > floor) co_return false;
  std::string text = std::to_string(saturating_sum(floor, counter->gap_after_loss));
  auto written = co_await answer_of<Written>(
      [&](Done<Written> done) { source->compare_and_set(now.value().version, std::move(text), std::move(done)); });
  if (!written.ok()) co_return std::move(written.failure());
  co_return written.value().written;
}

/// The store refuses to add: the sum would not fit, or this is no counter. Takes what is left; no numbers if somebody
/// else was faster.
Steps<Numbers> take_the_rest(std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source,
                             std::int64_t at_least) {
  const std::int64_t floor = counter->floor;
  auto now = co_await answer_of<Versioned>([&](Done<Versioned> done) { source->get(std::move(done)); });
  if (!now.ok()) co_return std::move(now.failure());
  const auto value = number_in(now.value().value);
  if (!value || *value < 0) co_return not_a_counter(*counter);
  const std::int64_t before = std::max(*value, floor);
  if (before >= counter->last || counter->last - before < at_least) co_return too_few_left(*counter, at_least);
  auto written = co_await answer_of<Written>([&](Done<Written> done) {
    source->compare_and_set(now.value().version, std::to_string(largest), std::move(done));
  });
  if (!written.ok()) co_return std::move(written.failure());
  if (!written.value().written) co_return Numbers{};
  counter->raise_floor(counter->last);
  co_return Numbers{before + 1, counter->last + 1};
}

}  // namespace

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void Counter::raise_floor(std::int64_t to) noexcept {
  std::int64_t seen = floor;
  while (seen < to && !floor.compare_exchange_weak(seen, to)) {
  }
}

std::optional<Failure> why_not_here(const Counter& counter) {
  if (base::fork_generation() == counter.forks_before) return std::nullopt;
  return Failure{Errc::forked, counter.name +
                                   " belongs to the parent process; a forked child opens a client and a "
                                   "generator of its own"};
}

CounterMetrics Counter::metrics() const noexcept {
  return {.issued = issued, .burnt = burnt, .refused = refused, .went_back = went_back};
}

Steps<Numbers> take_numbers(std::shared_ptr<Counter> counter, std::shared_ptr<CounterRegister> source,
                            std::int64_t count, std::int64_t at_least) {
  if (auto why = why_not_here(*counter)) co_return *std::move(why);
  // Somebody would have to be faster again and again for this to be not enough.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::int64_t floor = counter->floor;  // of what was answered before this request begins
    if (floor >= counter->last) co_return too_few_left(*counter, at_least);
    auto sum = co_await answer_of<std::int64_t>([&](Done<std::int64_t> done) { source->add(count, std::move(done)); });
    if (sum.ok()) {
      const std::int64_t highest = sum.value();
      if (highest < count) co_return not_a_counter(*counter);
      const std::int64_t before = highest - count;
      if (before < floor) {
        ++counter->went_back;
        counter->burnt += static_cast<std::uint64_t>(count);
        auto raised = co_await raise_register(counter, source, floor);
        if (!raised.ok()) co_return std::move(raised.failure());
        continue;
      }
      counter->raise_floor(highest);
      if (before >= counter->last || counter->last - before < at_least) co_return too_few_left(*counter, at_least);
      co_return Numbers{before + 1, std::min(highest, counter->last) + 1};
    }
    if (sum.failure().code != Errc::invalid_argument) {
      ++counter->refused;
      if (sum.failure().code == Errc::in_doubt) counter->burnt += static_cast<std::uint64_t>(count);
      co_return std::move(sum.failure());
    }
    auto rest = co_await take_the_rest(counter, source, at_least);
    if (!rest.ok() || rest.value().size() > 0) co_return rest;
  }
  co_return Failure{Errc::unreachable, "others were faster each time that numbers of " + counter->name + " were taken"};
}

}  // namespace holdfast::ids
