#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "spi/result.hpp"

namespace holdfast::etcd {

/// Collects the answers to several requests that are one to whoever made them. When the last one has been answered,
/// `done` is told what was gathered, or a failure if there was one. The requests share this object.
template <class T = spi::Nothing>
class AllAnswered {
 public:
  /// REQUIRES: `count` is not 0.
  AllAnswered(std::size_t count, spi::Done<T> done) : left_(count), done_(std::move(done)) {}

  T gathered = {};

  /// Each request calls this once, after it has put its answer into `gathered`.
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
