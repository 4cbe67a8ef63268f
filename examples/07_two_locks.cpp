// Two locks at once, without a deadlock: std::scoped_lock takes Holdfast's mutexes as it takes any others, and
// MultiLock takes any number of names with one deadline for all.

#include <chrono>
#include <holdfast/holdfast.hpp>
#include <iostream>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

namespace {

struct Accounts {
  int alice = 100;
  int bob = 100;
};

}  // namespace

int main() {
  holdfast::Client client("memory:");
  Accounts accounts;

  // Two threads, in opposite order: std::scoped_lock finds a way in which both get through.
  const auto transfer = [&](const char* from, const char* to, int& taken, int& given) {
    holdfast::Mutex first(client, from);
    holdfast::Mutex second(client, to);
    for (int i = 0; i < 50; ++i) {
      const std::scoped_lock both(first, second);
      --taken;
      ++given;
    }
  };
  std::thread there([&] { transfer("account/alice", "account/bob", accounts.alice, accounts.bob); });
  std::thread back([&] { transfer("account/bob", "account/alice", accounts.bob, accounts.alice); });
  there.join();
  back.join();
  std::cout << "Alice has " << accounts.alice << ", Bob has " << accounts.bob << "\n";
  if (accounts.alice != 100 || accounts.bob != 100) return 1;

  // Names that are known only now, one deadline, all or none.
  holdfast::MultiLock audit(client, {"account/bob", "account/alice"});
  {
    const std::scoped_lock all(audit);
    std::cout << "audited under " << audit.hold().tokens().size() << " locks\n";
  }
  const holdfast::Hold taken = holdfast::Mutex(client, "account/bob").acquire();
  if (audit.try_acquire_for(50ms)) return 1;
  std::cout << "Bob's account is busy, so none is locked\n";
  if (!holdfast::Mutex(client, "account/alice").try_acquire()) return 1;
}
