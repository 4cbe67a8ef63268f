#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/monitor.hpp"
#include "core/runtime/workers.hpp"
#include "spi/backend.hpp"
#include "spi/call.hpp"
#include "support/recorder.hpp"

namespace holdfast::spi_suite {

using spi::ClaimAnswer;
using spi::milliseconds;
using spi::Mode;
using spi::Result;
using spi::WhenBusy;
using namespace std::chrono_literals;

constexpr auto granted = ClaimAnswer::Standing::granted;
constexpr auto waiting = ClaimAnswer::Standing::waiting;
constexpr auto absent = ClaimAnswer::Standing::absent;
constexpr Mode exclusive = {.kind = ClaimMode::exclusive};
constexpr Mode shared = {.kind = ClaimMode::shared};
constexpr Mode permits(std::uint32_t k, std::uint32_t n) {
  return {.kind = ClaimMode::permits, .permits = k, .limit = n};
}

/// Longer than any test.
constexpr milliseconds long_lease = 1h;

/// Claims are numbers in this suite; all clients know them all.
spi::ClaimId id_of(int claim);
int claim_of(const spi::ClaimId& id);

/// What an acquire() asks for.
struct AcquireOptions {
  LockName name = "name";
  Mode mode = exclusive;
  milliseconds lease = long_lease;
  LeaseKind lease_kind = LeaseKind::renewed;
  WhenBusy when_busy = WhenBusy::wait;
  milliseconds lock_delay = {};
  std::optional<int> replaces = {};
  std::string reason = {};
};

/// A claim that exists, or did. Unless `kind` says otherwise it stands in the line for which it was last acquired, by
/// any client.
struct Ref {
  int claim = 0;
  LockName name = "name";
  milliseconds lease = long_lease;
  std::optional<LockKind> kind = {};
};

/// What a client was told without asking.
struct Told {
  enum class Of { a_grant, a_hint };
  Of of = Of::a_hint;
  std::string name = {};
  LockKind kind = LockKind::lock;
  int claim = 0;
  ClaimAnswer answer = {};
};

/// One client of a store, on a loop with a real clock, real threads and real descriptors: it asks, and it notes what it
/// is told. The calls that wait try again what did not happen (Errc::unreachable), as the core does.
///
/// It complains about any request that is answered inside the call, twice or not at all, and about events that come
/// inside a call or after the end.
class BackendUnderTest final : spi::ClaimEvents {
 public:
  explicit BackendUnderTest(const std::string& url);
  /// Closes it, unless close() has.
  ~BackendUnderTest() override;
  BackendUnderTest(const BackendUnderTest&) = delete;
  BackendUnderTest& operator=(const BackendUnderTest&) = delete;

  const ClientIdentity& identity() const { return *identity_; }
  StoreTraits traits();

  // --- requests that are not waited for ---

  Pending<ClaimAnswer> start_acquire(int claim, const AcquireOptions& options = {});
  Pending<bool> start_release(const Ref& ref);
  Pending<std::vector<ClaimAnswer>> start_renew(const std::vector<Ref>& refs);
  Pending<ClaimAnswer> start_downgrade(const Ref& ref);
  Pending<spi::Versioned> start_read(const LockName& name);
  Pending<spi::Registers::WriteAnswer> start_write_if(const LockName& name, std::uint64_t expected, std::string value);
  Pending<std::int64_t> start_add(const LockName& name, std::int64_t amount);
  Pending<> start_watch(const LockName& name, std::uint64_t seen);
  Pending<std::optional<LockStatus>> start_show(const LockName& name = "name", LockKind kind = LockKind::lock);
  Pending<std::vector<LockStatus>> start_list(const std::string& prefix);
  Pending<std::size_t> start_evict(const LockName& name, LockKind kind = LockKind::lock,
                                   std::uint64_t up_to = spi::Administration::all);
  Pending<std::size_t> start_ask_to_release(const LockName& name, const ReleaseRequest& request,
                                            LockKind kind = LockKind::lock);
  Pending<bool> start_resize(const LockName& name, std::uint32_t total);
  Pending<std::chrono::system_clock::time_point> start_now();
  Pending<> start_close();

  // --- requests that are waited for ---

  Result<ClaimAnswer> try_acquire(int claim, const AcquireOptions& options = {});
  Result<ClaimAnswer> try_downgrade(const Ref& ref);
  Result<spi::Registers::WriteAnswer> try_write_if(const LockName& name, std::uint64_t expected, std::string value);
  Result<std::int64_t> try_add(const LockName& name, std::int64_t amount);
  Result<bool> try_resize(const LockName& name, std::uint32_t total);

  // These complain about failures.
  ClaimAnswer acquire(int claim, const AcquireOptions& options = {});
  bool release(int claim, const LockName& name = "name");
  std::vector<ClaimAnswer> renew(const std::vector<Ref>& refs);
  ClaimAnswer renew(const Ref& ref) { return renew(std::vector{ref}).at(0); }
  ClaimAnswer renew(int claim) { return renew(Ref{.claim = claim}); }
  /// How it stands, without changing it.
  ClaimAnswer look(int claim, const LockName& name = "name") { return renew(Ref{claim, name, 0ms}); }
  ClaimAnswer downgrade(int claim);
  spi::Versioned read(const LockName& name);
  spi::Registers::WriteAnswer write_if(const LockName& name, std::uint64_t expected, std::string value);
  std::int64_t add(const LockName& name, std::int64_t amount);
  std::optional<LockStatus> show(const LockName& name = "name", LockKind kind = LockKind::lock);
  std::vector<LockStatus> list(const std::string& prefix = {});
  std::size_t evict(const LockName& name = "name", LockKind kind = LockKind::lock,
                    std::uint64_t up_to = spi::Administration::all);
  std::size_t ask_to_release(const LockName& name, const ReleaseRequest& request, LockKind kind = LockKind::lock);
  bool resize(std::uint32_t total, const LockName& name = "name");
  std::chrono::system_clock::time_point now();
  void close();

  // --- what it was told ---

  std::vector<Told> told() const { return told_.all(); }
  std::vector<int> told_granted() const;
  /// Whether it comes to be told so. Waits, in bounded time.
  bool is_told_granted(int claim) const { return told_of(Told::Of::a_grant, claim).has_value(); }
  bool is_told_to_check(int claim) const { return told_of(Told::Of::a_hint, claim).has_value(); }
  std::optional<Told> told_of(Told::Of of, int claim) const;

 private:
  void granted(const LockName& name, LockKind kind, spi::ClaimId id, const ClaimAnswer& answer) override;
  void check(const LockName& name, LockKind kind, spi::ClaimId id) override;
  void note(Told told);

  template <class T, class Start>
  Pending<T> start(std::shared_ptr<const void> arguments, Start start);
  /// When to try again: on a busy machine an answer may be later than the patience of a short lease allows.
  enum class Again { if_not_sent, if_in_doubt };
  template <class StartCall>
  static auto wait_for(StartCall start_call, Again again = Again::if_not_sent);
  template <class StartCall>
  static auto value_of(StartCall start_call, Again again = Again::if_not_sent);

  const std::shared_ptr<const ClientIdentity> identity_;
  core::Workers workers_;
  core::Monitor monitor_{workers_};
  std::optional<spi::Expectation> listening_;  ///< as a client that waits for the store
  std::unique_ptr<spi::Backend> backend_;
  test::Recorder<Told> told_;
  std::atomic<int> unanswered_ = 0;
  bool closed_ = false;  ///< from here on under the monitor
  bool inside_a_call_ = false;
};

}  // namespace holdfast::spi_suite
