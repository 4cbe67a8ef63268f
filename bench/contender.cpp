#include <chrono>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "holdfast/holdfast.hpp"
#include "mapped_turns.hpp"

// Holdfast's side among peers: one of many processes that take one lock, asked line by line as they are (driver.hpp).
//
//     holdfast_bench_contender URL
//     processes FILE ME      until the file says that it is over (turns.hpp); answers how often it had the lock

namespace holdfast::bench {
namespace {

long contend(Client& client, const std::string& file, int me) {
  const MappedTurns turns(file, MappedTurns::As::user);
  Mutex mutex(client, "bench-processes", {.ttl = std::chrono::seconds(60)});
  long grants = 0;
  for (; !turns->over; ++grants) {
    const Hold hold = mutex.acquire();
    turns->taken_by(me);
    turns->about_to_release();
  }
  return grants;
}

}  // namespace
}  // namespace holdfast::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: holdfast_bench_contender URL\n";
    return 64;
  }
  try {
    holdfast::Client client(argv[1], {.connect_timeout = std::chrono::seconds(60)});
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string mode;
      std::string file;
      int me = 0;
      if (!(words >> mode >> file >> me) || mode != "processes") return 64;
      std::cout << holdfast::bench::contend(client, file, me) << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "holdfast_bench_contender: " << error.what() << '\n';
    return 1;
  }
}
