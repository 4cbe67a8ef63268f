#pragma once

#include <utility>

#include "spi/loop.hpp"
#include "spi/result.hpp"

namespace holdfast::kit {

/// Answers a request whose answer is known at once: not inside the call that made it.
template <class T>
void answer_soon(spi::Loop& loop, spi::Done<T> done, spi::Result<T> result) {
  loop.defer([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); });
}

/// The same, for a request that cannot be made.
template <class T>
void answer_soon(spi::Loop& loop, spi::Done<T> done, spi::Failure failure) {
  answer_soon(loop, std::move(done), spi::Result<T>(std::move(failure)));
}

}  // namespace holdfast::kit
