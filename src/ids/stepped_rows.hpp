#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/instant.hpp"
#include "holdfast/ids/stepped.hpp"
#include "ids/counter.hpp"
#include "ids/stepped_record.hpp"

namespace holdfast::ids {

/// One store of a Stepped, as a generator knows it. Under the mutex of SteppedRows.
struct SteppedRow {
  explicit SteppedRow(Client& its_client) : client(&its_client) {}

  Client* client;
  std::shared_ptr<CounterRegister> record_register = {};
  bool needs_witness = false;

  // Once its record was read.
  std::optional<SteppedRecord> record = {};
  std::shared_ptr<Counter> counter = {};
  std::shared_ptr<CounterRegister> numbers = {};
  std::int64_t furthest = 0;       ///< that it is known to have come
  unsigned failures = 0;           ///< without a success in between
  base::Instant rests_until = {};  ///< asked last until then
};

/// What the batches of a Stepped are taken from. Thread-safe.
class SteppedRows {
 public:
  SteppedRows(const SteppedStores& stores, const LockName& name, const SteppedOptions& options);

  const LockName name;
  const std::uint64_t last;
  const std::shared_ptr<Counter> total;  ///< counts what all rows have done

  CounterMetrics metrics() const;
  std::uint64_t skew() const;
  std::uint64_t failovers() const noexcept { return failovers_; }

 private:
  friend Steps<IdRange> take_batch(std::shared_ptr<SteppedRows> rows, std::int64_t count, std::int64_t at_least);
  friend Steps<IdRange> take_from(std::shared_ptr<SteppedRows> rows, std::size_t at, std::int64_t count,
                                  std::int64_t at_least);
  friend Steps<bool> learn(std::shared_ptr<SteppedRows> rows, std::size_t at);
  friend Steps<bool> note(std::shared_ptr<SteppedRows> rows, std::size_t at, Numbers numbers);

  /// In which order to ask: the one that is least far on first, and those that have just failed last.
  std::vector<std::size_t> order() const;
  /// A register that tells how far a row has come, in the store after it. Null if that store is not among ours.
  std::shared_ptr<CounterRegister> witness_of(const SteppedRecord& record) const;

  mutable std::mutex mutex_;
  std::vector<SteppedRow> rows_;
  std::uint64_t turn_;  ///< begins anywhere, so that processes do not all begin with the same store
  std::atomic<std::uint64_t> failovers_ = 0;
};

/// `count` ids of one store, from the first one that yields them; or the last ones of that store, if those are fewer, but
/// `at_least` so many.
Steps<IdRange> take_batch(std::shared_ptr<SteppedRows> rows, std::int64_t count, std::int64_t at_least);

}  // namespace holdfast::ids
