#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::test {

/// A file to which processes append ids, each as it was issued, so that it has them all when they are killed.
class IdFile {
 public:
  explicit IdFile(const std::string& path)
      : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~IdFile() { close(descriptor_); }
  IdFile(const IdFile&) = delete;
  IdFile& operator=(const IdFile&) = delete;

  void add(std::uint64_t id) const {
    if (::write(descriptor_, &id, sizeof(id)) != sizeof(id)) throw std::runtime_error("cannot write an id");
  }

  static std::vector<std::uint64_t> all(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::vector<std::uint64_t> ids;
    for (std::uint64_t id = 0; file.read(reinterpret_cast<char*>(&id), sizeof(id));) ids.push_back(id);
    return ids;
  }

 private:
  int descriptor_;
};

}  // namespace holdfast::test
