#pragma once

#include <functional>
#include <utility>

namespace holdfast::etcd::wire {

/// What the completion queue returns when gRPC has done something, successfully or not. It belongs to whoever waits for
/// that, and must exist until then.
class Tag {
 public:
  using OnDone = std::function<void(bool ok)>;
  explicit Tag(OnDone on_done) : on_done_(std::move(on_done)) {}
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;
  /// The callback may destroy the tag.
  void done(bool ok) {
    const OnDone on_done = on_done_;
    on_done(ok);
  }

 private:
  OnDone on_done_;
};

}  // namespace holdfast::etcd::wire
