#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/callback.hpp"
#include "base/file_descriptor.hpp"

namespace holdfast::core {

/// What other threads want done under a monitor, and how they wake somebody who does it. Shared, so that a worker that
/// was left behind may still post to a monitor that is gone: its task is then destroyed without being run.
class PostedTasks {
 public:
  PostedTasks(base::FileDescriptor wakes_reader, base::FileDescriptor wakes_background)
      : wake_reader(std::move(wakes_reader)), wake_background(std::move(wakes_background)) {}

  /// From any thread.
  void post(base::Task task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
      filled_ = true;
    }
    // Either the reader sees that something was posted before it sleeps, or we see it asleep.
    ::eventfd_write(reader_asleep ? wake_reader.get() : wake_background.get(), 1);
  }

  bool filled() const { return filled_; }

  void move_to(std::vector<base::Task>& tasks) {
    const std::scoped_lock lock(mutex_);
    filled_ = false;
    for (base::Task& task : tasks_) tasks.push_back(std::move(task));
    tasks_.clear();
  }

  const base::FileDescriptor wake_reader;      ///< in the epoll set: ends the reading thread's epoll_wait
  const base::FileDescriptor wake_background;  ///< for the background thread alone
  std::atomic<bool> reader_asleep{false};      ///< a thread with the role is in epoll_wait

 private:
  std::mutex mutex_;
  std::vector<base::Task> tasks_;
  std::atomic<bool> filled_{false};
};

}  // namespace holdfast::core
