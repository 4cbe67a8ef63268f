#include "backends/sqlite/store_access.hpp"

namespace holdfast::sqlite {

using spi::Failure;
using spi::Nothing;
using spi::Operation;
using spi::Result;

StoreAccess::StoreAccess(std::string path, std::optional<Machine> pretended, const spi::BackendContext& context)
    : loop_(context.loop),
      events_(context.events),
      watches_(context.loop, [](const LockName&) {}),
      transactions_(context.loop, *this, std::move(path), std::move(pretended)) {}

void StoreAccess::close() {
  if (std::exchange(closed_, true)) return;
  watches_.close(why_closed());
  transactions_.close(why_closed());
}

void StoreAccess::opened(Database& database) {
  database_ = &database;
  durable_.emplace(loop_, database.files().database, database.machine());
  member_.emplace(loop_, events_, watches_, database);
}

void StoreAccess::closing(Database&) {
  database_ = nullptr;
  durable_->close(closed_ ? why_closed() : Failure{Errc::in_doubt, "the database was replaced while it was written"});
  durable_.reset();
  member_.reset();
}

void StoreAccess::committed(std::vector<Notice> notices, int log_pages) {
  member_->committed();
  tell(notices);
  if (log_pages >= DurableSide::long_log || database_->numbers().running_low()) maintain(log_pages);
}

void StoreAccess::tell(const std::vector<Notice>& notices) {
  if (database_ != nullptr) deliver(database_->mailboxes(), notices);
}

/// Reserves numbers and shortens the log, where waiting for the disk is allowed.
void StoreAccess::maintain(int log_pages) {
  if (!std::exchange(maintaining_, true)) maintaining(log_pages).start([](const Result<>&) {});
}

Operation<Nothing> StoreAccess::maintaining(int log_pages) {
  auto work = [log_pages](DurableSide& side) {
    side.shorten_log(log_pages);
    return Result(side.reserve());
  };
  auto limit = co_await durable_->run(base::Instant::max(), work);
  maintaining_ = false;
  if (limit.ok()) {
    if (database_ != nullptr) database_->numbers().extend_to(limit.value());
    transactions_.resume();
  } else {
    transactions_.refuse_reservation(limit.failure());
  }
  co_return Nothing{};
}

}  // namespace holdfast::sqlite
