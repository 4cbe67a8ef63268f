#include "backends/sqlite/durable_side.hpp"

#include <chrono>
#include <utility>

#include "backends/sqlite/failures.hpp"

namespace holdfast::sqlite {
namespace {

// Shorter than a request's patience, so that what could not begin is known not to have happened.
constexpr auto writers_wait = std::chrono::milliseconds(700);

/// A log that grows faster than it can be moved is moved while everybody waits.
constexpr int much_too_long = 4 * DurableSide::long_log;

}  // namespace

DurableSide::DurableSide(std::string path, Machine machine) : path_(std::move(path)), machine_(std::move(machine)) {
  ForkGate::join(*this);
}

DurableSide::~DurableSide() { ForkGate::leave(*this); }

Connection& DurableSide::open() {
  if (!connection_) {
    connection_ = std::make_unique<Connection>(path_, Connection::Durability::full, writers_wait);
  }
  return *connection_;
}

void DurableSide::shorten_log(int log_pages) {
  if (log_pages < long_log) return;
  const ForkGate::Use use;
  try {
    const int mode = log_pages >= much_too_long ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE;
    const int result = sqlite3_wal_checkpoint_v2(open().handle(), nullptr, mode, nullptr, nullptr);
    // Busy: another process does it, or reads; the next one will be in time.
    if (result != SQLITE_OK && (result & 0xff) != SQLITE_BUSY) open().fail();
  } catch (const SqlFailure& failure) {
    refuse(failure, false);
  }
}

std::int64_t DurableSide::reserve() {
  return transact([this](Connection& connection) { return extend_range(connection, machine_).limit; });
}

void DurableSide::refuse(const SqlFailure& failure, bool committing) const {
  const spi::Failure explained = explain(failure, path_, committing);
  throw Refusal(explained.code, explained.detail);
}

}  // namespace holdfast::sqlite
