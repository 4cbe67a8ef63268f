#pragma once

#include <deque>
#include <memory>

#include "backends/sqlite/durable_side.hpp"
#include "backends/sqlite/operation.hpp"
#include "spi/loop.hpp"

namespace holdfast::sqlite {

/// Operations that wait for the disk: one after the other, on a thread that may block. Under the client's monitor.
class DurableQueue {
 public:
  using DurableOperation = Operation<DurableSide>;

  /// REQUIRES: `loop` outlives it.
  DurableQueue(spi::Loop& loop, std::string path, Host host);
  ~DurableQueue();
  DurableQueue(const DurableQueue&) = delete;
  DurableQueue& operator=(const DurableQueue&) = delete;

  void add(std::shared_ptr<DurableOperation> operation);
  /// Answers everything that is unanswered; what is under way goes on without being answered.
  void close(const spi::Failure& failure);

 private:
  void start_next();
  void finished(const std::shared_ptr<DurableOperation>& operation, const std::optional<spi::Failure>& failure);
  void give_up();
  void set_timer();

  spi::Loop& loop_;
  const std::shared_ptr<DurableSide> side_;  ///< shared with the thread that blocks
  std::deque<std::shared_ptr<DurableOperation>> waiting_;
  std::shared_ptr<DurableOperation> running_;  ///< null also if it was answered while it ran
  bool busy_ = false;
  spi::Timer timer_;
  const std::shared_ptr<DurableQueue*> self_;  ///< null once this object has gone
};

}  // namespace holdfast::sqlite
