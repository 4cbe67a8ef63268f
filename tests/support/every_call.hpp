#pragma once

#include <chrono>

#include "holdfast/holdfast.hpp"

namespace holdfast::test {

/// True if the call did something; false if it failed as calls do. Lets everything pass that is not an Error.
template <class Call>
bool succeeds(Call&& call) {
  try {
    call();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Makes one call of each kind that asks a server, with short waits; how many succeeded.
inline int make_every_call(Client& client, const LockOptions& options) {
  using namespace std::chrono_literals;
  int succeeded = 0;
  const auto tried = [&](auto call) { succeeded += succeeds(call) ? 1 : 0; };
  tried([&] { static_cast<void>(Mutex(client, "a", options).try_acquire_for(50ms)); });
  tried([&] { static_cast<void>(Mutex(client, "a", options).try_acquire()); });
  tried([&] { static_cast<void>(SharedMutex(client, "b", options).try_acquire_shared_for(50ms)); });
  tried([&] { static_cast<void>(Semaphore(client, "c", 3, options).try_acquire_for(50ms, 2)); });
  tried([&] { static_cast<void>(client.show("a")); });
  tried([&] { static_cast<void>(client.list("a")); });
  tried([&] { static_cast<void>(client.evict("a")); });
  tried([&] { static_cast<void>(client.ask_to_release("a", {.reason = "why"})); });
  tried([&] { static_cast<void>(Register(client, "d").get()); });
  tried([&] { static_cast<void>(Register(client, "d").add(1)); });
  tried([&] { static_cast<void>(Register(client, "d").compare_and_set(1, "x")); });
  tried([&] { static_cast<void>(Election(client, "e").leader()); });
  return succeeded;
}

}  // namespace holdfast::test
