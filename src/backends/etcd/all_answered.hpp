#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "spi/result.hpp"

namespace holdfast::etcd {

/// Many requests that are one: `done` hears what was gathered when the last of them has been answered, or a failure if
/// there was one. They share it.
template <class T = spi::Nothing>
class AllAnswered {
 public:
  /// REQUIRES: `count` is not 0.
  AllAnswered(std::size_t count, spi::Done<T> done) : left_(count), done_(std::move(done)) {}

  T gathered = {};

  /// The last thing that one of them does.
  template <class U>
  void answered(spi::Result<U>& result) {
    if (!result.ok()) failure_ = std::move(result.failure());
    if (--left_ > 0) return;
    if (failure_) return done_(*std::move(failure_));
    done_(std::move(gathered));
  }

 private:
  std::size_t left_;
  std::optional<spi::Failure> failure_;
  spi::Done<T> done_;
};

}  // namespace holdfast::etcd
