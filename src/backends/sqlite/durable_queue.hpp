#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/sqlite/durable_side.hpp"
#include "base/coroutine.hpp"
#include "base/lifetime.hpp"
#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::sqlite {

/// A queue of writes that must reach the disk. They run one after the other, on a thread that may block; the queue
/// itself is used under the client's monitor.
class DurableQueue {
 public:
  /// REQUIRES: `loop` outlives it.
  DurableQueue(spi::Loop& loop, std::string path, Machine machine);
  DurableQueue(const DurableQueue&) = delete;
  DurableQueue& operator=(const DurableQueue&) = delete;

  /// `co_await run(deadline, function)`: the Result that `function(DurableSide&)` returned, or why there is none. The
  /// queue may have gone by then. `function` runs on another thread, perhaps still after the deadline, so it owns what
  /// it uses.
  template <class Function>
  auto run(base::Instant deadline, Function function) {
    using Answer = std::invoke_result_t<Function&, DurableSide&>;
    auto start = [this, deadline, function = std::move(function)](base::Callback<void(Answer)> done) mutable {
      add(std::make_shared<JobOf<Function, Answer>>(deadline, std::move(function), std::move(done)));
    };
    return base::AnswerOf<Answer, decltype(start)>(std::move(start));
  }
  /// Answers everything that is unanswered; what is under way goes on without being answered.
  void close(const spi::Failure& failure);

 private:
  class Job {
   public:
    explicit Job(base::Instant deadline) : deadline_(deadline) {}
    virtual ~Job() = default;
    /// On a thread that may block. Throws Refusal.
    virtual void execute(DurableSide& side) = 0;
    /// With what execute() made, or with the failure.
    virtual void answer(std::optional<spi::Failure> failure) = 0;
    base::Instant deadline() const { return deadline_; }

   private:
    const base::Instant deadline_;
  };

  template <class Function, class Answer>
  class JobOf final : public Job {
   public:
    JobOf(base::Instant deadline, Function function, base::Callback<void(Answer)> done)
        : Job(deadline), function_(std::move(function)), done_(std::move(done)) {}

   private:
    void execute(DurableSide& side) override { answer_.emplace(function_(side)); }
    void answer(std::optional<spi::Failure> failure) override {
      if (failure) return done_(*std::move(failure));
      done_(*std::move(answer_));
    }

    Function function_;
    base::Callback<void(Answer)> done_;
    std::optional<Answer> answer_;
  };

  void add(std::shared_ptr<Job> job);
  void start_next();
  void finished(std::shared_ptr<Job> job, std::optional<spi::Failure> failure);
  void answer_soon(std::shared_ptr<Job> job, std::optional<spi::Failure> failure);
  void give_up();
  void set_timer();

  spi::Loop& loop_;
  const std::shared_ptr<DurableSide> side_;  ///< shared with the thread that blocks
  std::deque<std::shared_ptr<Job>> waiting_;
  std::shared_ptr<Job> running_;  ///< null also if it was answered while it ran
  bool busy_ = false;
  spi::Timer timer_;
  base::Lifetime lifetime_;
};

}  // namespace holdfast::sqlite
