#pragma once

#include <unistd.h>

#include <filesystem>

#include "support/temporary_directory.hpp"

namespace holdfast::crash {

/// A directory for a disk, or for what is left of one.
class Scratch : public test::TemporaryDirectory {
 public:
  enum class Where {
    memory,  ///< where there is such a place: a model says what is durable, and no disk keeps up with the tests
    disk,
  };

  explicit Scratch(Where where = Where::memory) : TemporaryDirectory(parent(where)) {}

 private:
  static std::filesystem::path parent(Where where) {
    return where == Where::memory ? test::memory_directory() : std::filesystem::temp_directory_path();
  }
};

}  // namespace holdfast::crash
