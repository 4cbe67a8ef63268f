#pragma once

#include <utility>

#include "base/coroutine.hpp"
#include "spi/result.hpp"

namespace holdfast::spi {

/// What takes several requests to a store. It goes on wherever they are answered, so all of it runs under the monitor.
template <class T>
using Operation = base::Coroutine<Result<T>>;

/// `co_await answer_of<T>(start)`: what is answered to the Done that `start` is given. REQUIRES: not inside `start`.
template <class T, class Start>
base::AnswerOf<Result<T>, Start> answer_of(Start start) {
  return base::AnswerOf<Result<T>, Start>(std::move(start));
}

}  // namespace holdfast::spi
