#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace holdfast::crash {

/// A directory of its own, gone with everything in it when destroyed.
class Scratch {
 public:
  enum class Where {
    memory,  ///< where there is such a place: a model says what is durable, and no disk keeps up with the tests
    disk,
  };

  explicit Scratch(Where where = Where::memory) : path_(make(where)) {}
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  static std::filesystem::path make(Where where) {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = where == Where::memory && access(memory.c_str(), W_OK) == 0;
    std::string name = (in_memory ? memory : std::filesystem::temp_directory_path()) / "holdfast-crash-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
    return name;
  }

  const std::filesystem::path path_;
};

}  // namespace holdfast::crash
