#include "backends/sqlite/numbers.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::sqlite {

std::int64_t Numbers::microseconds(base::Instant instant) {
  return std::chrono::duration_cast<std::chrono::microseconds>(instant.time_since_epoch()).count();
}

Numbers::Range Numbers::starting_at(std::int64_t number, const Machine& machine) {
  return {.base = number - microseconds(machine.now()), .limit = number + reservation};
}

std::int64_t Numbers::next() {
  const std::int64_t number = floor();
  if (number >= range_.limit) throw ReservationNeeded();
  last_ = number;
  return number;
}

std::int64_t Numbers::floor() const { return std::max(last_ + 1, clock()); }

void Numbers::let_the_clock_pass() const {
  while (clock() <= last_) {
  }
}

void Numbers::extend_to(std::int64_t limit) { range_.limit = std::max(range_.limit, limit); }

}  // namespace holdfast::sqlite
