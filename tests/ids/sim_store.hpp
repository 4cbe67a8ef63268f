#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "holdfast/register.hpp"
#include "sim/dice.hpp"

namespace holdfast::ids_sim {

using sim::Dice;

/// Virtual time, in microseconds.
using Micros = std::int64_t;

/// Registers with versions that may forget what they acknowledged, as a replica that takes over may.
class Store {
 public:
  /// How a register that has lost writes counts on. By the clock, no version is used twice.
  enum class Versions { counted, by_clock };

  explicit Store(std::uint32_t numbers, Versions versions = Versions::counted)
      : versions_(versions), registers_(numbers + 1) {}

  /// Register 0 is the pool's, and n + 1 that of number n.
  static std::size_t of(std::optional<std::uint32_t> number) { return number ? *number + 1U : 0U; }

  Versioned read(std::size_t which) const {
    const auto& history = registers_[which];
    return history.empty() ? Versioned() : history.back();
  }

  Written write_if(std::size_t which, std::uint64_t expected, const std::string& value, Micros now) {
    const Versioned current = read(which);
    if (current.version != expected) return {false, current};
    std::uint64_t version = current.version + 1;
    if (versions_ == Versions::by_clock) version = std::max(version, static_cast<std::uint64_t>(now));
    registers_[which].push_back({value, version});
    return {true, registers_[which].back()};
  }

  /// Each register forgets none to `depth` of its newest writes.
  void lose_newest(Dice& dice, std::uint32_t depth) {
    for (auto& history : registers_) {
      for (std::uint32_t i = dice.below(depth + 1); i > 0 && !history.empty(); --i) history.pop_back();
    }
  }
  void lose_everything() {
    for (auto& history : registers_) history.clear();
  }

 private:
  Versions versions_;
  std::vector<std::vector<Versioned>> registers_;
};

}  // namespace holdfast::ids_sim
