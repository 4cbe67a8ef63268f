// Two locks for more than one holder: a SharedMutex for many readers or one writer, and a Semaphore for at most n.

#include <atomic>
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
  holdfast::Client client("memory:");

  // Many read at once. A writer that becomes a reader does not let go in between: nobody changes what it has written.
  holdfast::SharedMutex prices(client, "price-list");
  {
    const std::shared_lock one(prices);
    std::thread([&] { const std::shared_lock another(prices); }).join();
    if (prices.try_lock()) return 1;
    std::cout << "two readers, and no writer\n";
  }
  prices.lock();
  prices.downgrade();
  std::thread([&] { const std::shared_lock reader(prices); }).join();
  std::cout << "the writer reads, and others with it\n";
  prices.unlock_shared();

  // Three licences for ten jobs.
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::vector<std::thread> jobs;
  for (int i = 0; i < 10; ++i) {
    jobs.emplace_back([&] {
      holdfast::Client host("memory:");
      const holdfast::Hold licence = holdfast::Semaphore(host, "renderer-licence", 3).acquire();
      const int now = ++running;
      for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(5ms);
      --running;
    });
  }
  for (std::thread& job : jobs) job.join();
  std::cout << "10 jobs, at most " << most << " at a time\n";
  return most <= 3 ? 0 : 1;
}
