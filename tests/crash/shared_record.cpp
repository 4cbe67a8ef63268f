#include "crash/shared_record.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/file_descriptor.hpp"

namespace holdfast::crash {

void SharedRecord::complain(const std::string& what) {
  if (complaints.fetch_add(1) > 0) return;
  what.copy(first_complaint.data(), first_complaint.size() - 1);
}

SharedRecordFile::SharedRecordFile(const std::filesystem::path& path) {
  const base::FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  // All zeros is a record of nothing.
  if (!file || ftruncate(file.get(), sizeof(SharedRecord)) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  void* const mapped = mmap(nullptr, sizeof(SharedRecord), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), path);
  record_ = static_cast<SharedRecord*>(mapped);
}

SharedRecordFile::~SharedRecordFile() { munmap(record_, sizeof(SharedRecord)); }

}  // namespace holdfast::crash
