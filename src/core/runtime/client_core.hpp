#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork.hpp"
#include "core/engine/engine.hpp"
#include "core/runtime/monitor.hpp"
#include "core/runtime/workers.hpp"
#include "holdfast/async.hpp"
#include "holdfast/client.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"

namespace holdfast::core {

enum class Effect;

/// A client of a real program: the engine, the monitor it runs under, and the calls through which threads come in.
/// Calls that wait for a lock go through acquire() or async_acquire(); whatever takes several steps goes through
/// perform() or async_perform().
/// Thread-safe. Throws Errc::forked from every call in a forked child.
class ClientCore final : public std::enable_shared_from_this<ClientCore>, public UserSide {
 public:
  /// In a forked child it is never destroyed, whoever drops it: it belongs to the parent process.
  static std::shared_ptr<ClientCore> open(std::string_view url, ClientOptions options);
  ~ClientCore() override;
  ClientCore(const ClientCore&) = delete;
  ClientCore& operator=(const ClientCore&) = delete;
  static const std::shared_ptr<ClientCore>& of(const Client& client) { return client.core_; }

  void close() noexcept;

  /// How a lock is asked for.
  struct Demand {
    const LockOptions& options;
    spi::Mode mode = {};
    spi::WhenBusy when_busy = spi::WhenBusy::wait;
    base::Duration wait = base::Duration::max();  ///< max: for ever
  };
  /// Blocks until the lock is held, or the attempt has failed.
  spi::Result<Hold> acquire(Cell& cell, const Demand& demand, const std::stop_token& stop);
  void async_acquire(Cell& cell, const Demand& demand, AcquireCallback callback, std::stop_token stop);
  Hold hold_of(std::shared_ptr<HoldRecord> record) { return {shared_from_this(), std::move(record)}; }
  static std::shared_ptr<HoldRecord> record_of(const Hold& hold) { return hold.record_; }

  /// Blocks until the operation that `make` makes for its caller has ended.
  template <class T, class Make>
  spi::Result<T> perform(base::Duration wait, const std::stop_token& stop, Make make);
  /// Returns at once; `heard` is called on the user's side.
  template <class T, class Make, class Heard>
  void async_perform(std::stop_token stop, Make make, Heard heard);

  Released release(HoldRecord& hold);
  void release_without_waiting(HoldRecord& hold) noexcept;
  void async_release(const std::shared_ptr<HoldRecord>& hold, AsyncCallback<Released> callback);
  void extend(const std::shared_ptr<HoldRecord>& hold, base::Duration length);
  void async_extend(const std::shared_ptr<HoldRecord>& hold, base::Duration length, AsyncCallback<> callback);
  void downgrade(const std::shared_ptr<HoldRecord>& hold);
  void async_downgrade(const std::shared_ptr<HoldRecord>& hold, AsyncCallback<> callback);

  Cell& keep_cell(const LockName& name, LockKind kind);
  void let_go_of(Cell& cell) noexcept;

  /// With the names and kinds that users know.
  std::vector<LockStatus> list(std::string_view prefix);
  std::optional<LockStatus> show(const LockName& name, LockKind kind);
  std::size_t evict(const LockName& name, LockKind kind, std::uint64_t up_to = spi::Administration::all);
  std::size_t ask_to_release(const LockName& name, LockKind kind, const ReleaseRequest& request);
  Revoked revoke(const LockName& name, LockKind kind, const ReleaseRequest& request, const std::stop_token& stop);
  /// False if nobody holds or waits.
  bool resize(const LockName& name, std::uint32_t total);
  const StoreTraits& traits() const { return engine_.traits(); }
  std::vector<int> lifeline();
  Health health();
  const ClientIdentity& identity() const { return *engine_.identity(); }

  /// Runs `work` inside the monitor.
  template <class Work>
  decltype(auto) inside(Work&& work) {
    check_not_forked();
    const Monitor::Section section(monitor_);
    return std::forward<Work>(work)();
  }

  bool forked() const noexcept { return base::fork_generation() != born_in_; }
  void check_not_forked() const;
  /// Throws Errc::closed or Errc::forked.
  void check_open();

  // UserSide, also for the calls above
  void run(base::Task task) override { workers_.run(std::move(task)); }
  void log(LogLevel level, std::string text) override;
  void report(Errc code, std::string what_happened) override;

 private:
  ClientCore(std::string_view url, ClientOptions options);

  struct AsyncAcquire;
  template <class T, class Heard>
  struct AsyncOperation;

  template <class T, class Start>
  spi::Result<T> administer(Effect effect, Start start);

  const std::uint64_t born_in_ = base::fork_generation();
  const ClientOptions options_;
  Workers workers_;
  Monitor monitor_;
  Engine engine_;
  bool close_began_ = false;  ///< under the monitor
};

}  // namespace holdfast::core
