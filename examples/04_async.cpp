// For programs that must not block: ask, go on, be called back.

#include <chrono>
#include <condition_variable>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <system_error>

using namespace std::chrono_literals;

int main() {
  std::mutex mutex;
  std::condition_variable changed;
  int granted = 0;
  bool cancelled = false;
  int still_open = 0;

  holdfast::Client client("memory:");
  holdfast::Mutex lock(client, "inbox");

  // The callback comes exactly once, on a thread of the client's own, with a hold or with an error. It may take its
  // time and may call Holdfast. When it lets the hold go, the next one is served.
  const auto work = [&](std::error_code error, holdfast::Hold hold) {
    const std::scoped_lock guard(mutex);
    if (!error && hold.valid()) ++granted;
    if (error == holdfast::Errc::cancelled) cancelled = true;
    --still_open;
    changed.notify_all();
  };

  holdfast::Hold ours = lock.acquire();
  std::stop_source changed_our_mind;
  {
    const std::scoped_lock guard(mutex);
    still_open = 4;
  }
  for (int i = 0; i < 3; ++i) lock.async_acquire(work);
  lock.async_acquire(work, changed_our_mind.get_token());
  std::cout << "asked four times, waiting for none\n";

  changed_our_mind.request_stop();
  ours.release();

  std::unique_lock guard(mutex);
  if (!changed.wait_for(guard, 30s, [&] { return still_open == 0; })) return 1;
  std::cout << "granted " << granted << ", called off " << (cancelled ? 1 : 0) << "\n";
  return granted == 3 && cancelled ? 0 : 1;
}
