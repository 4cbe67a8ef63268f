// Optimistic locking: read a value with its version, compute, and write only if nobody else has written meanwhile; else
// do it again. Good where conflicts are rare, and nobody ever waits for a lock.

#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

int main() {
  holdfast::Client client("memory:");
  holdfast::Register stock(client, "stock/4711");
  stock.set("100");

  // By hand: the second writer is told what is in its way.
  const holdfast::Versioned seen = stock.get();
  if (!stock.compare_and_set(seen.version, "99")) return 1;
  const holdfast::Written late = stock.compare_and_set(seen.version, "98");
  if (late) return 1;
  std::cout << "too late: it is " << late.now.value << " by now\n";

  // update() does the loop. 8 customers buy 10 each, from 8 clients.
  std::vector<std::thread> customers;
  for (int i = 0; i < 8; ++i) {
    customers.emplace_back([] {
      holdfast::Client shop("memory:");
      holdfast::Register its_stock(shop, "stock/4711");
      for (int bought = 0; bought < 10; ++bought) {
        its_stock.update([](const std::string& value) { return std::to_string(std::stoi(value) - 1); });
      }
    });
  }
  for (std::thread& customer : customers) customer.join();
  std::cout << "left: " << stock.get().value << "\n";
  return stock.get().value == "19" ? 0 : 1;
}
