// Workers pick tasks from a list, each a different one: whoever comes takes the first that nobody works on.

#include <atomic>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

/// The list that all workers know, and what was done. In real life it is a table in a database.
class Tasks {
 public:
  explicit Tasks(int count) {
    for (int i = 1; i <= count; ++i) left_.emplace_back("task/" + std::to_string(i));
  }

  std::vector<holdfast::LockName> left() const {
    const std::scoped_lock lock(mutex_);
    return left_;
  }

  /// False if somebody has done it already.
  bool finish(const holdfast::LockName& task) {
    const std::scoped_lock lock(mutex_);
    return std::erase(left_, task) == 1;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<holdfast::LockName> left_;
};

}  // namespace

int main() {
  constexpr int count = 20;
  Tasks tasks(count);
  std::atomic<int> done = 0;

  const auto work = [&] {
    holdfast::Client client("memory:");  // each worker is a host of its own
    while (true) {
      const auto left = tasks.left();
      if (left.empty()) return;
      const auto task = holdfast::try_lock_any(client, left);
      if (!task) {
        std::this_thread::yield();  // others work on all that is left
      } else if (tasks.finish(task->name())) {
        ++done;
      }  // else it was finished between our look at the list and our lock
    }
  };
  std::vector<std::thread> workers;
  for (int i = 0; i < 4; ++i) workers.emplace_back(work);
  for (std::thread& worker : workers) worker.join();

  std::cout << "4 workers did " << done << " of " << count << " tasks, each once\n";
  return done == count ? 0 : 1;
}
