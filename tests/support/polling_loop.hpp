#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "holdfast/error.hpp"
#include "support/manual_loop.hpp"

namespace holdfast::test {

/// A manual loop whose descriptors are real: time passes only when the test says so, and the kernel says what is ready.
class PollingLoop : public ManualLoop {
 public:
  void watch(int descriptor, Ready wanted, ReadyHandler handler) override {
    if (refuses_to_watch) {
      watches_.erase(descriptor);
      throw Error(Errc::exhausted, "a descriptor cannot be watched: the test says so");
    }
    watches_[descriptor] = std::make_shared<Watch>(Watch{wanted, std::move(handler)});
  }
  void unwatch(int descriptor) override { watches_.erase(descriptor); }

  void run_blocking(base::Task work, base::Task done) override {
    if (!keeps_blocking_work) return ManualLoop::run_blocking(std::move(work), std::move(done));
    blocking_work.emplace_back(std::move(work), std::move(done));
  }

  /// Tells what is ready now, or becomes ready within `patience` of real time, and runs what follows. True if there was
  /// anything.
  bool poll(std::chrono::milliseconds patience = {}) {
    bool any = run();
    std::vector<pollfd> descriptors;
    for (const auto& [descriptor, watch] : watches_) {
      const int wanted = (watch->wanted.readable ? POLLIN : 0) | (watch->wanted.writable ? POLLOUT : 0);
      descriptors.push_back({descriptor, static_cast<short>(wanted), 0});
    }
    ::poll(descriptors.data(), descriptors.size(), any ? 0 : static_cast<int>(patience.count()));
    for (const pollfd& each : descriptors) {
      const auto found = watches_.find(each.fd);
      if (each.revents == 0 || found == watches_.end()) continue;
      const std::shared_ptr<Watch> watch = found->second;  // the handler may unwatch itself
      const bool broken = (each.revents & (POLLERR | POLLHUP)) != 0;
      any = true;
      watch->handler(
          {.readable = broken || (each.revents & POLLIN) != 0, .writable = broken || (each.revents & POLLOUT) != 0});
    }
    return run() || any;
  }

  /// Polls until `condition` holds; false if it does not within ten seconds of real time.
  template <class Condition>
  bool poll_until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      poll(std::chrono::milliseconds(10));
    }
    return true;
  }

  std::size_t watched() const { return watches_.size(); }

  bool refuses_to_watch = false;
  /// Then the test runs blocking work itself, first and then second, when it wants to.
  bool keeps_blocking_work = false;
  std::deque<std::pair<base::Task, base::Task>> blocking_work;

 private:
  struct Watch {
    Ready wanted;
    ReadyHandler handler;
  };

  std::map<int, std::shared_ptr<Watch>> watches_;
};

}  // namespace holdfast::test
