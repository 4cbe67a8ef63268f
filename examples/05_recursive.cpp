// A function that locks, called by a function that has locked already.

#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>

namespace {

void book(holdfast::RecursiveMutex& mutex, int amount, int& balance) {
  const std::scoped_lock lock(mutex);  // again: costs nanoseconds and no round trip
  balance += amount;
}

void transfer(holdfast::RecursiveMutex& mutex, int amount, int& from, int& to) {
  const std::scoped_lock lock(mutex);
  book(mutex, -amount, from);
  book(mutex, amount, to);
  std::cout << "depth " << mutex.depth() << ", token " << mutex.hold().token() << "\n";
}

}  // namespace

int main() {
  holdfast::Client client("memory:");
  holdfast::RecursiveMutex mutex(client, "accounts");
  int savings = 100;
  int current = 0;
  transfer(mutex, 40, savings, current);
  if (mutex.depth() != 0 || savings != 60 || current != 40) return 1;

  // A plain Mutex finds the mistake instead of waiting for itself for ever.
  holdfast::Mutex plain(client, "accounts");
  const std::scoped_lock lock(plain);
  try {
    plain.lock();
    return 1;
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_deadlock_would_occur) throw;
    std::cout << "a plain Mutex says: " << error.code().message() << "\n";
  }
}
