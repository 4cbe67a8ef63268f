#include "ids/thread_state.hpp"

#include <pthread.h>

#include <memory>

#include "holdfast/error.hpp"
#include "ids/wiped_memory.hpp"

namespace holdfast::ids {

thread_local constinit ThreadState* current_thread_state = nullptr;

namespace {

struct Owned {
  WipedMemory memory;
  ThreadState& state = memory.make<ThreadState>();
};

/// Called when a thread ends. Other such functions may make UUIDs afterwards: then they get a state of their own, and
/// this is called once more. The destructor of a thread_local object would not be.
void destroy(void* owned) {
  current_thread_state = nullptr;
  delete static_cast<Owned*>(owned);
}

[[noreturn]] void throw_exhausted() {
  throw Error(Errc::exhausted,
              "UUIDs cannot be made in this thread: the process has no more keys for thread-specific data");
}

pthread_key_t make_key() {
  pthread_key_t key = 0;
  if (pthread_key_create(&key, destroy) != 0) throw_exhausted();
  return key;
}

}  // namespace

ThreadState& make_thread_state() {
  static const pthread_key_t key = make_key();
  auto owned = std::make_unique<Owned>();
  if (pthread_setspecific(key, owned.get()) != 0) throw_exhausted();
  current_thread_state = &owned->state;
  return owned.release()->state;
}

}  // namespace holdfast::ids
