// A lock in a distributed system can be lost: the machine sleeps, the network breaks, an operator steps in. A Hold says
// so, and its token keeps a late writer from doing harm.

#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

/// What the lock protects. It remembers the largest token it has seen and refuses smaller ones. In real life this is a
/// column in a table or a condition in a request, checked by the same step that writes.
class Ledger {
 public:
  bool write(holdfast::Token token, const std::string& line) {
    if (token < newest_) {
      std::cout << "refused: " << line << " (token " << token << ")\n";
      return false;
    }
    newest_ = token;
    std::cout << "written: " << line << " (token " << token << ")\n";
    return true;
  }

 private:
  holdfast::Token newest_;
};

}  // namespace

int main() {
  holdfast::Client alice("memory:");
  holdfast::Client bob("memory:");
  Ledger ledger;

  // The lease: how long the lock outlives a holder that crashed. It is renewed in the background.
  holdfast::Hold first = holdfast::Mutex(alice, "ledger", {.ttl = 3s, .reason = "monthly closing"}).acquire();
  first.on_change([](holdfast::HoldState state) {
    if (state == holdfast::HoldState::lost) std::cout << "Alice hears that her lock is gone\n";
  });
  if (!ledger.write(first.token(), "by Alice")) return 1;

  // Somebody on call takes the lock away.
  if (!bob.evict("ledger")) return 1;
  holdfast::Hold second = holdfast::Mutex(bob, "ledger").acquire();
  if (!ledger.write(second.token(), "by Bob")) return 1;

  // Alice's work checks its hold now and then, and stops. lost_fd() would wake a poll(), too.
  for (int step = 0; step < 10'000 && !first.stop_token().stop_requested(); ++step) std::this_thread::sleep_for(1ms);
  if (first.valid() || first.state() != holdfast::HoldState::lost) return 1;

  // Had she not looked, the ledger would have refused her: her token is the smaller one.
  if (ledger.write(first.token(), "by Alice, too late")) return 1;

  // What she releases is hers, so it is nothing; Bob keeps his lock.
  if (first.release() != holdfast::Released::not_held || !second.valid()) return 1;
  alice.close();  // all callbacks have been called
}
