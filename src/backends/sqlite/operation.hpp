#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "base/instant.hpp"
#include "spi/result.hpp"

namespace holdfast::sqlite {

/// A request that waits for its turn to be executed on a `Context`, perhaps several times until it succeeds; then it is
/// answered once.
template <class Context>
class Operation {
 public:
  explicit Operation(base::Instant deadline) : deadline_(deadline) {}
  virtual ~Operation() = default;

  virtual void execute(Context& context) = 0;
  /// REQUIRES: executed, and that is certain.
  virtual void answer() = 0;
  virtual void fail(const spi::Failure& failure) = 0;

  base::Instant deadline() const { return deadline_; }

 private:
  const base::Instant deadline_;
};

/// `step(context)` makes a value, of which `finish(value, done)` makes the answer.
template <class Context, class T, class Step, class Finish>
class OperationOf final : public Operation<Context> {
 public:
  OperationOf(base::Instant deadline, Step step, Finish finish, spi::Done<T> done)
      : Operation<Context>(deadline), step_(std::move(step)), finish_(std::move(finish)), done_(std::move(done)) {}

  void execute(Context& context) override { value_.emplace(step_(context)); }
  void answer() override { finish_(std::move(*value_), done_); }
  void fail(const spi::Failure& failure) override { done_(failure); }

 private:
  Step step_;
  Finish finish_;
  spi::Done<T> done_;
  std::optional<std::decay_t<std::invoke_result_t<Step&, Context&>>> value_;
};

}  // namespace holdfast::sqlite
