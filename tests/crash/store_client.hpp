#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "backends/sqlite/machine.hpp"
#include "core/runtime/monitor.hpp"
#include "core/runtime/workers.hpp"
#include "holdfast/error.hpp"
#include "spi/backend.hpp"

namespace holdfast::crash {

/// One client of a sqlite: store as the core would be one, with calls that wait for the store's answer and throw Error
/// when it is a failure. A store that has no time, because the machine is busy, is asked again, where that is safe:
/// only write_if() and add() throw Errc::in_doubt.
class StoreClient final : spi::ClaimEvents {
 public:
  /// `machine`: the machine that it pretends to be on.
  explicit StoreClient(const std::filesystem::path& database, std::optional<sqlite::Machine> machine = {});
  /// Closes it.
  ~StoreClient() override;
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  /// Claims are numbers in these calls; another client's are others.
  spi::ClaimAnswer acquire(const std::string& name, std::uint64_t claim,
                           spi::WhenBusy when_busy = spi::WhenBusy::refuse);
  spi::ClaimAnswer renew(const std::string& name, std::uint64_t claim);
  void release(const std::string& name, std::uint64_t claim);

  spi::Versioned read(const std::string& name);
  spi::Registers::WriteAnswer write_if(const std::string& name, std::uint64_t expected, const std::string& value);
  std::int64_t add(const std::string& name, std::int64_t amount);
  /// After Errc::in_doubt: returns when it has happened, or never will. Writes are made one after the other, so it is
  /// enough that a later one, which writes nothing, was answered.
  void settle();

  static constexpr spi::milliseconds lease = std::chrono::seconds(30);

 private:
  void granted(const LockName&, LockKind, spi::ClaimId, const spi::ClaimAnswer&) override {}
  void check(const LockName&, LockKind, spi::ClaimId) override {}

  spi::ClaimId id(std::uint64_t claim) const { return {.high = key_, .low = claim}; }

  /// Calls `start(done)` under the monitor and waits for what `done` is given.
  template <class T, class Start>
  spi::Result<T> ask_once(Start start);
  /// For as long as it is answered with one of these errors.
  template <class T, class Start>
  T ask(Start start, std::initializer_list<Errc> again);

  const std::uint64_t key_;
  const std::shared_ptr<const ClientIdentity> identity_;
  core::Workers workers_;
  core::Monitor monitor_{workers_};
  std::unique_ptr<spi::Backend> backend_;
};

}  // namespace holdfast::crash
