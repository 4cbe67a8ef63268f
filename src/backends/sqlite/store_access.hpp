#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/sqlite/durable_queue.hpp"
#include "backends/sqlite/machine.hpp"
#include "backends/sqlite/membership.hpp"
#include "backends/sqlite/transactions.hpp"
#include "base/coroutine.hpp"
#include "kit/register_watches.hpp"
#include "spi/backend.hpp"
#include "spi/operation.hpp"

namespace holdfast::sqlite {

/// One client's access to its store, for coroutines: transactions, which are executed at once under the monitor and wait
/// for no disk, and durable writes, which wait for it on a thread that may block. It opens the database when it is first
/// needed, keeps numbers reserved, and keeps the write-ahead log short. Under the client's monitor.
class StoreAccess final : private Transactions::Owner {
 public:
  /// `pretended`: instead of the real machine.
  StoreAccess(std::string path, std::optional<Machine> pretended, const spi::BackendContext& context);
  ~StoreAccess() override { close(); }
  StoreAccess(const StoreAccess&) = delete;
  StoreAccess& operator=(const StoreAccess&) = delete;

  /// `co_await transact(access, patience, function)`: what `function(Step&)` returned, a Result; see
  /// Transactions::run().
  template <class Function>
  Transactions::Awaited<Function> transact(Access access, base::Duration patience, Function function) {
    return transactions_.run(access, base::saturating_add(loop_.now(), patience), std::move(function));
  }

  /// What `function(Step&)` returns, a Result, is all of the answer.
  template <class Function>
  base::Coroutine<std::invoke_result_t<Function&, Step&>> answering(Access access, Function function) {
    auto answer = co_await transact(access, spi::longest_patience, [&](Step& step) { return function(step); });
    co_return answer;
  }

  /// What `function(RegisterTable&, notices)` returns, a Result, is the answer once it is on the disk. It runs on another
  /// thread, so it owns what it uses; `notices` is what others should be told then.
  template <class Function>
  base::Coroutine<std::invoke_result_t<Function&, RegisterTable&, std::vector<Notice>&>> writing_durably(
      Function function);

  /// Null while the database is not open; inside a step it is.
  Membership* member() { return member_ ? &*member_ : nullptr; }
  /// The watches of registers that are not answered yet.
  kit::RegisterWatches& watches() { return watches_; }

  /// Leaves the store, and answers everything that is unanswered.
  void close();
  bool closed() const { return closed_; }
  static spi::Failure why_closed() { return {Errc::closed, "the client's sqlite: store is closed"}; }

 private:
  void opened(Database& database) override;
  void closing(Database& database) override;
  void began() override { member_->began(); }
  void committed(std::vector<Notice> notices, int log_pages) override;
  void reservation_needed() override { maintain(0); }
  void resign(Step& step) override { member_->resign(step.store); }

  void tell(const std::vector<Notice>& notices);
  void maintain(int log_pages);
  spi::Operation<spi::Nothing> maintaining(int log_pages);

  spi::Loop& loop_;
  spi::ClaimEvents& events_;
  kit::RegisterWatches watches_;
  Transactions transactions_;
  bool closed_ = false;
  bool maintaining_ = false;
  // While the database is open:
  Database* database_ = nullptr;
  std::optional<DurableQueue> durable_;
  std::optional<Membership> member_;
};

template <class Function>
base::Coroutine<std::invoke_result_t<Function&, RegisterTable&, std::vector<Notice>&>> StoreAccess::writing_durably(
    Function function) {
  using Answer = std::invoke_result_t<Function&, RegisterTable&, std::vector<Notice>&>;
  struct Written {
    Answer answer;
    std::vector<Notice> notices;
  };
  const base::Instant deadline = base::saturating_add(loop_.now(), spi::longest_patience);
  // The database must be open before its second side can be.
  auto opened =
      co_await transact(Access::read, spi::longest_patience, [](Step&) { return spi::Result<>(spi::Nothing{}); });
  if (!opened.ok()) co_return std::move(opened.failure());
  if (!durable_) co_return why_closed();
  auto write = [function = std::move(function)](DurableSide& side) mutable {
    return spi::Result(side.transact([&](Connection& connection) {
      RegisterTable table(connection);
      std::vector<Notice> notices;
      Answer answer = function(table, notices);
      return Written{std::move(answer), std::move(notices)};
    }));
  };
  auto written = co_await durable_->run(deadline, std::move(write));
  if (!written.ok()) co_return std::move(written.failure());
  tell(written.value().notices);
  co_return std::move(written.value().answer);
}

}  // namespace holdfast::sqlite
