#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "support/eventually.hpp"

namespace holdfast::test {

/// What callbacks were called with, from whatever thread.
template <class T>
class Recorder {
 public:
  void add(T value) {
    const std::scoped_lock lock(mutex_);
    values_.push_back(std::move(value));
  }
  std::size_t size() const {
    const std::scoped_lock lock(mutex_);
    return values_.size();
  }
  bool reaches(std::size_t count) const {
    return eventually([&] { return size() >= count; });
  }
  std::vector<T> all() const {
    const std::scoped_lock lock(mutex_);
    return values_;
  }
  std::vector<T> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(values_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::vector<T> values_;
};

}  // namespace holdfast::test
