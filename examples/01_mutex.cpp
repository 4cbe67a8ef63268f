// std::mutex, but for every process that opens the same store.
//
// `memory:` is a store inside this process, for examples and tests. With the URL of a store that others can reach,
// the same lines exclude every other process of the fleet.

#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>

int main() {
  holdfast::Client client("memory:");               // one per program
  holdfast::Mutex mutex(client, "nightly-report");  // one per lock, by name
  {
    const std::scoped_lock lock(mutex);   // waits for its turn
    std::cout << "writing the report\n";  // nobody else is here
  }  // given back
  std::cout << "done\n";
}
