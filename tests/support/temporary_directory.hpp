#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace holdfast::test {

/// A file system in memory, if script/test has made one ($HOLDFAST_TEST_MEMORY); else where temporary files go. A busy
/// disk can let a process stand still for many seconds; that is for tests of disks.
inline std::filesystem::path memory_directory() {
  const char* const memory = std::getenv("HOLDFAST_TEST_MEMORY");
  return memory != nullptr ? std::filesystem::path(memory) : std::filesystem::temp_directory_path();
}

/// An empty directory that only this user can enter; gone with all that is in it when destroyed.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    std::string name = (parent / "holdfast-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast::test
