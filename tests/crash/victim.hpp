#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace holdfast::crash {

/// A process that works on a store until it is killed: this program again.
class Victim {
 public:
  struct Orders {
    std::filesystem::path directory;  ///< the store is in database_in(it), the record in record_in(it)
    std::size_t process = 0;          ///< which of SharedRecord::process it is
    std::uint64_t kill_after = 0;     ///< kills itself after that many events of its disk; 0: never
    std::uint32_t seed = 0;
  };

  static std::filesystem::path database_in(const std::filesystem::path& directory) { return directory / "db/store.db"; }
  static std::filesystem::path record_in(const std::filesystem::path& directory) { return directory / "record"; }

  explicit Victim(const Orders& orders);
  /// Kills it, if that has not happened yet.
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  /// SIGKILL; returns when it is gone.
  void kill();
  /// Whether it has killed itself within `bound`. Any other end throws.
  bool has_died(std::chrono::milliseconds bound);

  /// For main(): whether this process is one, and its life.
  static bool is_one(int argc, char** argv);
  [[noreturn]] static void live(char** argv);

 private:
  bool reap(int flags);

  pid_t pid_ = -1;
};

/// How long its locks last if nobody notices that it has died. Nobody should ever wait for that.
inline constexpr std::chrono::seconds victims_lease{300};

}  // namespace holdfast::crash
