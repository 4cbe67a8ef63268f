#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "crash/boots.hpp"
#include "crash/disk_journal.hpp"
#include "spi/registers.hpp"

namespace holdfast::crash {

/// What a store may not forget, at one moment.
struct Promises {
  struct Register {
    spi::Versioned least = {};                  ///< the newest value that was acknowledged
    std::vector<spi::Versioned> possible = {};  ///< and those asked for since
  };

  std::uint64_t largest_number = 0;
  std::map<std::string, Register> registers = {};
  base::Duration clock = {};  ///< Boots::started_at() at that moment
};

/// What a store was asked and what it answered, each with its moment in the disk's journal.
class Ledger {
 public:
  explicit Ledger(const DiskJournal& journal, Promises before = {}) : journal_(journal), before_(std::move(before)) {
    clock_was_set();
  }

  /// After the clock of Boots was set.
  void clock_was_set() { clocks_.push_back({journal_.position(), Boots::started_at()}); }

  void granted(std::uint64_t number) { grants_.push_back({journal_.position(), number}); }

  /// Before a register is written, and after.
  void asks(const std::string& name, spi::Versioned value) {
    writes_.push_back({.asked_at = journal_.position(), .name = name, .value = std::move(value)});
  }
  void acknowledged() { writes_.back().acknowledged_at = journal_.position(); }

  /// The promises that had been given when the power failed at `cut`.
  Promises at(std::size_t cut) const {
    Promises promises = before_;
    for (const Grant& grant : grants_) {
      if (grant.at <= cut) promises.largest_number = std::max(promises.largest_number, grant.number);
    }
    for (const Clock& clock : clocks_) {
      if (clock.at <= cut) promises.clock = clock.started_at;
    }
    for (const Write& write : writes_) {
      if (write.asked_at > cut) break;
      Promises::Register& about = promises.registers[write.name];
      if (write.acknowledged_at <= cut) {
        about = {.least = write.value};
      } else {
        about.possible.push_back(write.value);
      }
    }
    return promises;
  }

 private:
  struct Grant {
    std::size_t at;
    std::uint64_t number;
  };
  struct Clock {
    std::size_t at;
    base::Duration started_at;
  };
  struct Write {
    std::size_t asked_at;
    std::size_t acknowledged_at = static_cast<std::size_t>(-1);
    std::string name;
    spi::Versioned value;
  };

  const DiskJournal& journal_;
  const Promises before_;
  std::vector<Grant> grants_;
  std::vector<Clock> clocks_;
  std::vector<Write> writes_;
};

}  // namespace holdfast::crash
