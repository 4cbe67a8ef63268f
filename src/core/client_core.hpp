#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine.hpp"
#include "core/fork.hpp"
#include "core/monitor.hpp"
#include "core/workers.hpp"
#include "holdfast/hold.hpp"
#include "holdfast/options.hpp"

namespace holdfast::core {

/// A client of a real program: the engine, the monitor it runs under, and the doors through which threads come in.
/// All waiting calls go through one door, acquire(); all its relatives are a few lines over it.
/// Thread-safe. Throws Errc::forked from every door in a forked child.
class ClientCore final : public std::enable_shared_from_this<ClientCore>, public UserSide {
 public:
  ClientCore(std::string_view url, ClientOptions options);
  ~ClientCore() override;

  void close() noexcept;

  /// Blocks until the lock is held, or until why not is known. `wait` is Duration::max() for ever.
  spi::Result<Hold> acquire(Cell& cell, const LockOptions& options, spi::WhenBusy when_busy, spi::Duration wait,
                            const std::stop_token& stop);
  void async_acquire(Cell& cell, const LockOptions& options, std::function<void(std::error_code, Hold)> callback,
                     std::stop_token stop);

  Released release(HoldRecord& hold);
  void release_without_waiting(HoldRecord& hold) noexcept;
  void extend(HoldRecord& hold, spi::Duration length);

  Cell& keep_cell(const LockName& name);
  void let_go_of(Cell& cell) noexcept;

  std::vector<LockStatus> list(std::string_view prefix);
  bool evict(const LockName& name);
  StoreTraits traits();
  Health health();
  const ClientIdentity& identity() const { return *engine_.identity(); }

  /// Runs `work` inside the monitor.
  template <class Work>
  decltype(auto) inside(Work&& work) {
    check_not_forked();
    const Monitor::Section section(monitor_);
    return work();
  }

  bool forked() const noexcept { return fork_generation() != born_in_; }
  void check_not_forked() const;
  /// Throws Errc::closed or Errc::forked.
  void check_open();

  // UserSide, for the doors too
  void run(spi::Task task) override { workers_.run(std::move(task)); }
  void log(LogLevel level, std::string text) override;
  void report(Errc code, std::string what_happened) override;

 private:
  struct AsyncAcquire;

  /// Blocks until the store has answered a request that `start` makes.
  template <class T, class Start>
  spi::Result<T> ask_store(Start&& start);
  /// The same for questions to the store: they count as contact, and the first contact may take the connect_timeout.
  template <class T, class Start>
  spi::Result<T> ask_until_contact(Start&& start);

  const std::uint64_t born_in_ = fork_generation();
  const ClientOptions options_;
  Workers workers_;
  Monitor monitor_;
  Engine engine_;
  bool close_began_ = false;  ///< under the monitor
};

}  // namespace holdfast::core
