// N threads, each with a lock object of its own, count to N together. The counter is a plain int: without the lock,
// or with one that lets two in, some of them would be lost.
//
//     06_count_to_n [N [URL]]

#include <chrono>
#include <cstdlib>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::string url = argc > 2 ? argv[2] : "memory:";
  if (threads < 1) {
    std::cerr << "usage: 06_count_to_n [N [URL]], N at least 1\n";
    return 2;
  }

  holdfast::Client client(url);
  int counter = 0;
  const auto begin = std::chrono::steady_clock::now();
  try {
    holdfast::Mutex starter(client, "counter");
    std::vector<std::jthread> running;
    std::unique_lock start(starter);  // while it is held, all of them come to stand in line
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&] {
        holdfast::Mutex mutex(client, "counter");
        const std::scoped_lock lock(mutex);
        ++counter;
      });
    }
    start.unlock();
  } catch (const std::system_error& error) {
    std::cerr << "could not start " << threads << " threads: " << error.what() << "\n";
    return 1;
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  std::cout << threads << " threads counted to " << counter << " in " << took.count() << " ms\n";
  return counter == threads ? 0 : 1;
}
