#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends/sqlite/fork_gate.hpp"

namespace holdfast::sqlite {

/// The number that a client has in a store.
using ClientNumber = std::int64_t;

/// Which clients of a store are alive, as the kernel knows it: each has a lock on one byte of a file of its own.
///
/// A record lock ends with its process, whatever ends it, and lives on in no child; other processes see it whether or
/// not they see the process's pid. But closing *any* descriptor of the file would end all locks that the process has in
/// it, so a process has one, and closes it when nobody here uses the store any more. A client whose life somebody else
/// is to prolong has a second lock on its byte, which belongs to an open file and so ends with its last copy.
/// Thread-safe. REQUIRES: a ForkGate::Use around all calls.
// NOLINTNEXTLINE(cppcoreguidelines-virtual-class-destructor): only the last Handle ends it
class Lifelines : private ForkGate::Member {
 public:
  /// Shared by all users in this process.
  class Handle {
   public:
    explicit Handle(Lifelines& lifelines) : lifelines_(&lifelines) {}
    Handle(Handle&& other) noexcept : lifelines_(std::exchange(other.lifelines_, nullptr)) {}
    Handle& operator=(Handle&& other) noexcept {
      std::swap(lifelines_, other.lifelines_);
      return *this;
    }
    ~Handle();
    Lifelines& operator*() const { return *lifelines_; }

   private:
    Lifelines* lifelines_ = nullptr;
  };

  /// The lifelines in that file, which is made if it does not exist. Throws Refusal.
  static Handle in(const std::string& path);

  /// False if the number is taken.
  bool take(ClientNumber client);
  void drop(ClientNumber client);
  bool alive(ClientNumber client) const;

  /// A descriptor whose copies, in whatever process, keep `client` alive beside this process. Closed with *this, and in
  /// forked children. Throws Refusal. REQUIRES: this process has taken the number.
  int share(ClientNumber client);

 private:
  explicit Lifelines(int descriptor) : descriptors_{descriptor} { ForkGate::join(*this); }
  ~Lifelines() override;

  void close_before_fork() noexcept override {}
  void forget_in_child() noexcept override { own_.clear(); }

  std::vector<int> descriptors_;  ///< one, unless files were moved while it was opened
  int users_ = 0;                 ///< guarded by the directory of all of them
  std::vector<PrivateDescriptor> shared_;
  mutable std::mutex mutex_;
  std::set<ClientNumber> own_;  ///< the kernel does not show a process its own locks
};

}  // namespace holdfast::sqlite
