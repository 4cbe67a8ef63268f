#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

namespace holdfast::crash {

/// What processes that are killed at any moment leave behind for others to compare: memory of a file, which no kill
/// takes away. What is asked for is noted before the call, what was acknowledged after it.
struct SharedRecord {
  static constexpr std::size_t locks = 3;
  static constexpr std::size_t processes = 3;

  struct Lock {
    std::atomic<std::uint64_t> last_token;  ///< written by whoever is inside
    std::atomic<std::int64_t> inside;       ///< the process that came in last; 0 if it has left
  };
  /// Each process writes numbers into a register of its own, one after the other.
  struct Process {
    std::atomic<std::uint64_t> asked;
    std::atomic<std::uint64_t> acknowledged;
    std::atomic<std::uint64_t> steps;  ///< since it was started
  };

  std::array<Lock, locks> lock;
  std::array<Process, processes> process;
  std::atomic<std::int64_t> added_asked;  ///< to the counter that all of them share
  std::atomic<std::int64_t> added_acknowledged;
  std::atomic<std::uint64_t> grants;
  std::atomic<std::uint64_t> doubts;  ///< calls without an answer in time
  std::atomic<std::uint64_t> complaints;
  std::array<char, 512> first_complaint;

  /// Anything that a process finds wrong.
  void complain(const std::string& what);
};

/// The record in that file, made if it does not exist, for as long as this object lives.
class SharedRecordFile {
 public:
  explicit SharedRecordFile(const std::filesystem::path& path);
  ~SharedRecordFile();
  SharedRecordFile(const SharedRecordFile&) = delete;
  SharedRecordFile& operator=(const SharedRecordFile&) = delete;

  SharedRecord& operator*() const { return *record_; }
  SharedRecord* operator->() const { return record_; }

 private:
  SharedRecord* record_ = nullptr;
};

}  // namespace holdfast::crash
