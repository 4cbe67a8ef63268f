#pragma once

#include <atomic>
#include <string>

#include "backends/sqlite/machine.hpp"

namespace holdfast::crash {

/// A machine that boots as often as a test wants, with a clock that starts anew each time. One at a time.
class Boots {
 public:
  /// The first boot.
  Boots() { again(); }

  const sqlite::Machine& machine() const { return machine_; }

  /// As after a power loss.
  void again() {
    clock_again();
    machine_.boot_id = "boot " + std::to_string(++boots_);
  }
  /// The clock starts anew and nobody notices: for controls.
  static void clock_again() { offset() = base::BootClock::now() - base::Instant(std::chrono::seconds(10)); }

  static void skip(base::Duration time) { offset() = offset().load() - time; }

  /// What the clock shows is the time since this moment, and can be made so again.
  static base::Duration started_at() { return offset(); }
  static void set_started_at(base::Duration moment) { offset() = moment; }

 private:
  /// Since the machine that is played was booted, the clock shows that much less than that of the machine that plays.
  static std::atomic<base::Duration>& offset() {
    static std::atomic<base::Duration> value{};
    return value;
  }

  sqlite::Machine machine_ = {.boot_id = {}, .now = [] { return base::BootClock::now() - offset().load(); }};
  int boots_ = 0;
};

}  // namespace holdfast::crash
