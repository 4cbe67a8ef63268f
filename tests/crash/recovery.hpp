#pragma once

#include <filesystem>
#include <ostream>
#include <string>

#include "crash/promises.hpp"
#include "crash/store_client.hpp"

namespace holdfast::crash {

/// What was found on the images of a disk.
struct Findings {
  int images = 0;
  int failures = 0;        ///< the store could not be used
  int damaged = 0;         ///< SQLite says that the file is not intact
  int lost_registers = 0;  ///< a value that was acknowledged is not there, or one is there that nobody wrote
  int old_numbers = 0;     ///< a number was not larger than those of before
  std::string first = {};  ///< what was found first, in words

  int all() const { return failures + damaged + lost_registers + old_numbers; }
};
std::ostream& operator<<(std::ostream& out, const Findings& findings);

/// How a store is used.
struct Use {
  std::string where = {};         ///< for Findings::first
  Ledger* ledger = nullptr;       ///< takes down what is promised meanwhile, if not null
  bool writes_registers = false;  ///< REQUIRES: a ledger
};

/// Uses the store in `database` after a crash as anybody would, and compares it with what was promised before.
void recover(const std::filesystem::path& database, const sqlite::Machine& machine, const Promises& promises,
             const Use& use, Findings& findings);

/// Asks SQLite whether the file is intact. Not while the file is observed: this goes past the VFS.
void check_integrity(const std::filesystem::path& database, const Use& use, Findings& findings);

}  // namespace holdfast::crash
