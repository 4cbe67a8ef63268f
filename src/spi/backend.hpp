#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/url.hpp"
#include "holdfast/status.hpp"
#include "spi/administration.hpp"
#include "spi/claims.hpp"
#include "spi/loop.hpp"
#include "spi/registers.hpp"

namespace holdfast::spi {

/// One client's connection to one store. Everything runs under the client's monitor, so an implementation names no
/// thread and no mutex. What a store cannot do, its traits say and the call refuses with Errc::unsupported.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Claims& claims() = 0;
  virtual Registers& registers() = 0;
  virtual Administration& administration() = 0;
  virtual StoreTraits traits() const = 0;

  /// How long a release that nobody waits for may be kept, where that may save a write: if the same client acquires
  /// the name meanwhile, that acquire replaces the claim, and there is no release. Zero: not at all.
  virtual Duration release_may_wait() const { return Duration::zero(); }

  /// Descriptors by which whoever has copies of them keeps this client alive in the eyes of the others, until its
  /// leases end. Empty: the store does not see that a client dies, or this one has not claimed anything yet. Throws
  /// Error.
  virtual std::vector<int> lifeline() { return {}; }

  /// Answers everything that is still unanswered (Errc::closed), then runs `done`, within longest_patience. Nothing is
  /// called afterwards.
  virtual void close(Done<> done) = 0;
};

/// What a backend is made from. What it refers to outlives the backend.
struct BackendContext {
  Loop& loop;
  ClaimEvents& events;
  /// For what somebody should read although nothing has failed, such as a setting of the server that endangers locks.
  /// May be empty.
  std::function<void(std::string)> warn = {};
};

/// How the backend for a URL scheme is found. One object per backend, of static lifetime.
struct BackendFactory {
  std::string_view name;
  std::span<const std::string_view> schemes;
  /// Contacts nobody yet. Throws Error (Errc::bad_url) that says what is wrong.
  std::unique_ptr<Backend> (*open)(const base::Url& url, const BackendContext& context);
};

/// The backends that this library was built with (src/backends/registry.cpp.in).
std::span<const BackendFactory* const> built_in_backends();

}  // namespace holdfast::spi
