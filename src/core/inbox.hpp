#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "spi/callback.hpp"
#include "spi/file_descriptor.hpp"

namespace holdfast::core {

/// What other threads want done under a monitor, and how they wake somebody who does it. Shared, so that a worker that
/// was left behind may still post to a monitor that is gone: its task is then destroyed without being run.
class Inbox {
 public:
  Inbox(spi::FileDescriptor wakes_reader, spi::FileDescriptor wakes_background)
      : wake_reader(std::move(wakes_reader)), wake_background(std::move(wakes_background)) {}

  /// From any thread.
  void post(spi::Task task) {
    {
      const std::scoped_lock lock(mutex_);
      tasks_.push_back(std::move(task));
      filled_ = true;
    }
    // Either the reader sees the filled inbox before it sleeps, or we see it asleep.
    ::eventfd_write(reader_asleep ? wake_reader.get() : wake_background.get(), 1);
  }

  bool filled() const { return filled_; }

  void move_to(std::vector<spi::Task>& tasks) {
    const std::scoped_lock lock(mutex_);
    filled_ = false;
    for (spi::Task& task : tasks_) tasks.push_back(std::move(task));
    tasks_.clear();
  }

  const spi::FileDescriptor wake_reader;      ///< in the epoll set: ends the reading thread's epoll_wait
  const spi::FileDescriptor wake_background;  ///< for the background thread alone
  std::atomic<bool> reader_asleep{false};     ///< a thread with the role is in epoll_wait

 private:
  std::mutex mutex_;
  std::vector<spi::Task> tasks_;
  std::atomic<bool> filled_{false};
};

}  // namespace holdfast::core
