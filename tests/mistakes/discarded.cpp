// What is held by an object ends with it: whoever does not keep the object holds nothing.
//
// 1: nodiscard
// 2: nodiscard
// 3: nodiscard
// 4: nodiscard
// 5: nodiscard
// 6: nodiscard
// 7: nodiscard
// 8: nodiscard
// 9: nodiscard

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

void kept(holdfast::Client& client, holdfast::Mutex& mutex, holdfast::Semaphore& semaphore, holdfast::MultiLock& both,
          holdfast::Election& election, holdfast::Once& once) {
  const holdfast::Hold hold = mutex.acquire();
  const auto tried = semaphore.try_acquire_for(1s);
  const auto any = holdfast::try_lock_any(client, {"a", "b"});
  const holdfast::MultiHold all = both.acquire();
  const holdfast::Observation observation = election.observe([](const holdfast::Leader&) {});
  const auto run = once.begin();
  const holdfast::Attempt attempt = once.attempt_for(1s);
#if MISTAKE == 1
  mutex.acquire();
#elif MISTAKE == 2
  mutex.try_acquire();
#elif MISTAKE == 3
  semaphore.try_acquire_for(1s);
#elif MISTAKE == 4
  holdfast::try_lock_any(client, {"a", "b"});
#elif MISTAKE == 5
  both.acquire();
#elif MISTAKE == 6
  both.try_acquire();
#elif MISTAKE == 7
  election.observe([](const holdfast::Leader&) {});
#elif MISTAKE == 8
  once.begin();
#elif MISTAKE == 9
  once.attempt_for(1s);
#endif
}
