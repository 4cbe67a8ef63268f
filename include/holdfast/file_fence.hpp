#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "holdfast/export.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/token.hpp"

namespace holdfast {

/// Guards a file, or anything else on one host, against late writers of any process: the largest token that was
/// admitted stands in a small file beside it, and smaller ones are refused.
///
///     holdfast::FileFence fence("/var/lib/app/report.fence");
///     if (!fence.write(token, [&] { write_report(token); })) throw std::runtime_error("stale writer");
///
/// The token is durable before the write begins, so neither kill -9 nor power loss lets an older token in after a newer
/// one has written. Equal tokens are admitted. All who write must ask the same fence, and a fence serves one lock:
/// tokens of different names must not meet.
///
/// The file is made by the first token that is admitted, for this user alone (mode 0600); deleting it makes the fence
/// forget. Not for network file systems. Other processes, threads and forked children may use the same path at the same
/// time, through this object (thread-safe) or others; in a forked child it goes on working.
///
/// Every call throws Error. Then nothing was written and no admitted token is forgotten; the new one may count already.
///
/// | Errc          | when                                                                                      |
/// |---------------|-------------------------------------------------------------------------------------------|
/// | store_failed  | the file is damaged, which is never taken for a new one; no such directory; the disk failed |
/// | access_denied | this user must not read or write it, or not create it                                     |
/// | exhausted     | no space for a new file (one that exists needs no more, except where the file system copies |
/// |               | on write), or no descriptors                                                              |
/// | unreachable   | somebody else was writing for all of `patience`. A process that is stopped in the middle of |
/// |               | its write keeps everybody out until it continues or ends                                  |
class HOLDFAST_EXPORT FileFence {
 public:
  /// Touches nothing. `patience` is how long a call waits while others write.
  explicit FileFence(const std::filesystem::path& path, std::chrono::milliseconds patience = std::chrono::seconds(10));
  FileFence(const FileFence&) = delete;
  FileFence& operator=(const FileFence&) = delete;

  /// Check and write in one step: runs `write` if the token is at least the largest admitted so far, and no other
  /// write() or admit() of any process before it has returned. False: refused, and not run. If it throws, the exception
  /// passes through and the token stays admitted. It must not use a fence of the same path: that would wait for itself.
  [[nodiscard]] bool write(Token token, MoveOnlyFunction<void()> write);

  /// The check without a write. What the caller does after it is a second step, and a larger token may come in between.
  [[nodiscard]] bool admit(Token token);

  /// The largest token admitted so far; Token() if there is no file yet.
  Token largest() const;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  std::chrono::milliseconds patience_;
  std::atomic<std::uint64_t> durable_ = 0;  // this object has seen to it that this token is on the disk
};

}  // namespace holdfast
