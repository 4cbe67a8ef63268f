#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "faults/clock.hpp"

namespace holdfast::faults {

/// What a command under the tool notes when it enters the room that its lock protects, and when it leaves it.
struct ToolNote {
  enum class Kind : std::uint8_t { enters, leaves };

  Kind kind = Kind::enters;
  std::string room = {};
  std::uint64_t token = 0;
  pid_t command = 0;
  Moment at = {};
  /// From `at` on, the room was still taken for so long: by another command, or by a descendant of one, which the
  /// kernel knows even if it was killed without a note of its own. Zero: it was empty.
  milliseconds taken = {};

  std::string line() const;
};

/// One line for each note. Lines that are no notes throw.
std::vector<ToolNote> read_diary(const std::filesystem::path& file);

/// A time in which the machine, or the one thread that watched it, stood still.
struct Stall {
  Moment begin = {};
  Moment end = {};
};

/// What the notes prove to be wrong, one sentence each: two in a room, a token that did not rise. A command may be late
/// to die by as long as the machine stood still then, because it can be killed only by somebody who runs: `stalls` that
/// were over for less than a second when a room should have been empty, or came later, are its excuse.
std::vector<std::string> judge(std::vector<ToolNote> notes, const std::vector<Stall>& stalls = {});

}  // namespace holdfast::faults
