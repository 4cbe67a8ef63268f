#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>
#include <iostream>
#include <mutex>

int main() {
  holdfast::Client client("memory:");
  holdfast::Mutex mutex(client, "hello");
  std::scoped_lock lock(mutex);
  std::cout << "hello\n";
}
