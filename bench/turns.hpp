#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace holdfast::bench {

/// What those who pass a lock on write down. Lives in memory that processes share: forked children, or programs in
/// other languages that map a file (peers/), so everything stays where it is.
struct Turns {
  static constexpr int most = 100'000;

  std::atomic<int> ready = 0;
  std::atomic<bool> begun = false;
  std::atomic<bool> over = false;
  std::atomic<int> changes = 0;  ///< how often somebody else than before had it
  std::atomic<int> last = -1;
  std::atomic<std::int64_t> released_at = 0;
  std::atomic<float> microseconds[most] = {};  ///< from before a release until somebody else had it

  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  /// By whoever has the lock.
  void taken_by(int who) {
    const std::int64_t time = now();
    if (last.exchange(who) == who) return;
    const int index = changes.fetch_add(1);
    if (index < most) microseconds[index] = static_cast<float>(time - released_at.load()) / 1000;
  }
  void about_to_release() { released_at = now(); }

  /// Without the first, for which the lock was kept.
  std::vector<double> latencies() const {
    const int count = std::min(changes.load(), most);
    if (count < 2) return {0};
    return {microseconds + 1, microseconds + count};
  }

  /// Changes for each second, once they have begun.
  double changes_per_second(std::chrono::milliseconds warm_up, std::chrono::milliseconds duration) const {
    std::this_thread::sleep_for(warm_up);
    const int before = changes;
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(duration);
    const int after = changes;
    return (after - before) / std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
};

static_assert(offsetof(Turns, over) == 5 && offsetof(Turns, changes) == 8 && offsetof(Turns, last) == 12 &&
              offsetof(Turns, released_at) == 16 && offsetof(Turns, microseconds) == 24);

}  // namespace holdfast::bench
