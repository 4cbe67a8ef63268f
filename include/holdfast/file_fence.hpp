#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>

#include "holdfast/export.hpp"
#include "holdfast/move_only_function.hpp"
#include "holdfast/token.hpp"

namespace holdfast {

/// Guards a file, or anything else on one host, against late writers in any process. The largest token that was
/// admitted is kept in a small file beside the resource, and smaller tokens are refused.
///
///     holdfast::FileFence fence("/var/lib/app/report.fence");
///     if (!fence.write(token, [&] { write_report(token); })) throw std::runtime_error("stale writer");
///
/// The token is durable before the write begins, so neither kill -9 nor a power failure lets an older token in after a
/// newer one has written. Equal tokens are admitted. All writers must ask the same fence, and a fence serves one lock:
/// it must only be used with tokens of one name.
///
/// The first token that is admitted creates the file, for this user alone (mode 0600). Deleting the file makes the
/// fence forget. Network file systems are not supported. Other processes, threads and forked children may use the same
/// path at the same time, through this object (it is thread-safe) or through others. The object keeps working in a
/// forked child.
///
/// Every call may throw Error. In that case nothing was written and no admitted token is forgotten, but the new token
/// may count already.
///
/// | Errc          | when                                                                                        |
/// |---------------|---------------------------------------------------------------------------------------------|
/// | store_failed  | the file is damaged (it is never mistaken for a new one), there is no such directory, or    |
/// |               | the disk failed                                                                             |
/// | access_denied | this user may not read, write or create the file                                            |
/// | exhausted     | there is no space for a new file (an existing one needs no more, unless the file system     |
/// |               | copies on write), or the process has no descriptors left                                    |
/// | unreachable   | somebody else was writing for all of `patience`. A process that is stopped in the middle of |
/// |               | its write keeps everybody out until it continues or ends                                    |
class HOLDFAST_EXPORT FileFence {
 public:
  /// Does not touch the file. `patience` is how long a call waits while others write.
  explicit FileFence(const std::filesystem::path& path, std::chrono::milliseconds patience = std::chrono::seconds(10));
  FileFence(const FileFence&) = delete;
  FileFence& operator=(const FileFence&) = delete;

  /// Checks and writes in one step: calls `write` if the token is at least the largest one admitted so far, and lets no
  /// other write() or admit() of any process begin before it has returned. Returns false, without calling `write`, if
  /// the token was refused. If `write` throws, the exception passes through and the token stays admitted. `write` must
  /// not use a fence of the same path, because it would wait for itself.
  [[nodiscard]] bool write(Token token, MoveOnlyFunction<void()> write);

  /// Checks the token without a write. What the caller does afterwards is a second step, and a larger token may be
  /// admitted in between.
  [[nodiscard]] bool admit(Token token);

  /// The largest token admitted so far, or Token() if there is no file yet.
  Token largest() const;

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  std::chrono::milliseconds patience_;
  std::atomic<std::uint64_t> durable_ = 0;  // this object has seen to it that this token is on the disk
};

}  // namespace holdfast
