#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "cli/run/nesting.hpp"
#include "holdfast/client.hpp"
#include "holdfast/hold.hpp"

namespace holdfast::cli {

/// What a command runs under: a lock, permits, a run of a job, a leadership. Not thread-safe.
class Holding {
 public:
  Holding() = default;
  virtual ~Holding() = default;
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  virtual const Hold& hold() const = 0;
  /// The command was successful. Throws holdfast::Error if that has to be written down, and could not be.
  virtual void note_success() {}
  /// Gives it back and waits for the store's answer.
  virtual Released release() = 0;
};

/// What became of acquiring one: it is held; or there is no need, and why; or an ancestor of this process holds it
/// already; or none of these, and it could not be acquired in time.
struct Acquired {
  std::unique_ptr<Holding> holding = {};
  std::string needless = {};
  std::optional<AncestorsHold> outer = {};
};

/// Acquires one within `wait`. Throws holdfast::Error; Errc::cancelled after a stop.
using Acquire = std::function<Acquired(std::chrono::nanoseconds wait, const std::stop_token& stop)>;

/// The ways to hold something under a name. `client` must outlive what they return.

Acquire exclusive_lock(Client& client, const LockName& name, const LockOptions& options);
Acquire shared_lock(Client& client, const LockName& name, const LockOptions& options);
/// `count` of `total` permits of a semaphore.
struct Permits {
  std::uint32_t count = 1;
  std::uint32_t total = 1;
};
Acquire some_permits(Client& client, const LockName& name, Permits permits, const LockOptions& options);
/// A run of a job that needs to succeed once per period only.
Acquire run_of_job(Client& client, const LockName& name, std::chrono::milliseconds period, const LockOptions& options);
Acquire leadership(Client& client, const LockName& name, const std::string& value, const LockOptions& options);

}  // namespace holdfast::cli
