// One of three leads. When it resigns, the next one does, with a larger term; an observer hears of each.

#include <atomic>
#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
  constexpr int candidates = 3;
  holdfast::Client observer("memory:");
  holdfast::Election election(observer, "scheduler");
  if (election.leader()) return 1;  // nobody yet

  std::atomic<int> heard = 0;
  const holdfast::Observation observation = election.observe([&](const holdfast::Leader& leader) {
    std::cout << leader.value + " leads\n" << std::flush;
    ++heard;
  });

  std::atomic<int> leading = 0;
  std::atomic<bool> more_than_one = false;
  std::atomic<std::uint64_t> newest_term = 0;
  std::vector<std::thread> hosts;
  for (int i = 1; i <= candidates; ++i) {
    hosts.emplace_back([&, i] {
      holdfast::Client client("memory:");
      holdfast::Election candidate(client, "scheduler");
      // Waits to be elected, works, and resigns however the work ends.
      candidate.lead("host-" + std::to_string(i), [&](const holdfast::Hold& hold) {
        if (++leading > 1) more_than_one = true;
        if (hold.token().value() <= newest_term.exchange(hold.token().value())) more_than_one = true;
        for (int step = 0; step < 20 && !hold.stop_token().stop_requested(); ++step) std::this_thread::sleep_for(1ms);
        --leading;
      });
    });
  }
  for (std::thread& host : hosts) host.join();
  for (int i = 0; i < 5'000 && heard < candidates; ++i) std::this_thread::sleep_for(1ms);

  std::cout << heard << " leaders, one after the other\n";
  return heard == candidates && !more_than_one && !election.leader() ? 0 : 1;
}
