// Not waiting, waiting for a while, and waiting until somebody says stop.

#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <optional>
#include <stop_token>
#include <thread>

using namespace std::chrono_literals;

int main() {
  // Two clients: they stand for two processes.
  holdfast::Client ours("memory:");
  holdfast::Client theirs("memory:");
  holdfast::Mutex mutex(ours, "cache-refresh");
  holdfast::Mutex same_lock(theirs, "cache-refresh");

  holdfast::Hold hold = mutex.acquire();

  // Busy is an answer, not an exception.
  if (!same_lock.try_acquire()) std::cout << "somebody is on it already\n";

  // So is running out of time.
  if (!same_lock.try_acquire_for(50ms)) std::cout << "still busy after 50 ms\n";

  // Every call that waits can be called off by a stop_token: a program that shuts down does not hang in a lock.
  std::stop_source shutdown;
  std::jthread impatient([&] { shutdown.request_stop(); });
  try {
    same_lock.lock(shutdown.get_token());
    return 1;  // it is held, so this cannot be
  } catch (const holdfast::Error& error) {
    if (error.errc() != holdfast::Errc::cancelled) throw;
    std::cout << "called off\n";
  }

  // release() waits for the store to confirm; the destructor and unlock() do not wait.
  if (hold.release() != holdfast::Released::released) return 1;
  const std::optional<holdfast::Hold> next = same_lock.try_acquire_for(5s);
  if (!next) return 1;
  std::cout << "our turn, token " << next->token() << "\n";
}
