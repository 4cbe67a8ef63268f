#pragma once

#include <cstdint>
#include <exception>

#include "backends/sqlite/machine.hpp"

namespace holdfast::sqlite {

/// Thrown inside a transaction: no number may be given before the database has reserved more of them, durably.
class ReservationNeeded : public std::exception {
 public:
  const char* what() const noexcept override { return "more numbers must be reserved first"; }
};

/// Mints the numbers of a store: of grants, of places in line, of clients. Each is larger than all before it, whoever
/// minted them, and nothing is written for it: a number is the time since boot in microseconds, plus a base that the
/// database knows. Transactions that write exclude each other, so it is enough that none ends before the clock has
/// passed its last number.
///
/// A power loss may undo transactions, but not a base and not a limit, which are written durably. Numbers stay below
/// the limit; after a boot, a new base makes them start at it. A new database starts from the time of day, so that one
/// that was deleted and made again does not repeat itself.
class Numbers {
 public:
  struct Range {
    std::int64_t base = 0;
    std::int64_t limit = 0;
  };

  /// How far ahead numbers are reserved: a day. Every boot skips at most so many.
  static constexpr std::int64_t reservation = std::int64_t{24} * 3600 * 1000 * 1000;
  /// Numbers fit into this many bits.
  static constexpr int bits = 56;

  static std::int64_t microseconds(base::Instant instant);
  /// For a new database, and for the first opening after a boot.
  static Range starting_at(std::int64_t number, const Machine& machine);

  Numbers(const Machine& machine, Range range) : machine_(machine), range_(range) {}

  /// Throws ReservationNeeded.
  std::int64_t next();
  /// No number that is given from now on is smaller.
  std::int64_t floor() const;
  /// Before a commit: waits, for a microsecond at most, until the clock has passed the last number.
  void let_the_clock_pass() const;

  bool running_low() const { return range_.limit - floor() < reservation / 2; }
  /// The limit only rises.
  void extend_to(std::int64_t limit);

 private:
  std::int64_t clock() const { return range_.base + microseconds(machine_.now()); }

  const Machine& machine_;
  Range range_;
  std::int64_t last_ = 0;
};

}  // namespace holdfast::sqlite
