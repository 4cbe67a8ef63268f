#pragma once

#include <functional>
#include <utility>

namespace holdfast::etcd::wire {

/// What the completion queue brings back: something that gRPC has done, well or not. It belongs to whoever waits for
/// it, and must live until then.
class Tag {
 public:
  using OnDone = std::function<void(bool ok)>;
  explicit Tag(OnDone on_done) : on_done_(std::move(on_done)) {}
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;
  /// It may end the life of the tag.
  void done(bool ok) {
    const OnDone on_done = on_done_;
    on_done(ok);
  }

 private:
  OnDone on_done_;
};

}  // namespace holdfast::etcd::wire
