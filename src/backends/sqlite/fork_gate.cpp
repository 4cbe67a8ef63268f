#include "backends/sqlite/fork_gate.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace holdfast::sqlite {
namespace {

/// Never destroyed: a client in static storage may be closed after everything else.
struct Process {
  std::mutex gate;             ///< whoever wants to use or to fork comes through here; a fork keeps it until it is over
  std::atomic<int> users = 0;  ///< that are inside
  std::mutex lists;            ///< guards the two below; taken after the gate
  std::vector<ForkGate::Member*> members;
  std::set<int> descriptors;
};

Process& process();

void before_fork() {
  Process& all = process();
  all.gate.lock();
  // Not a reader-writer lock, although it is one: a child cannot unlock that, because its thread is not the same.
  while (all.users.load() > 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
  all.lists.lock();
  for (ForkGate::Member* member : all.members) member->close_before_fork();
}

void let_everybody_go_on() {
  process().lists.unlock();
  process().gate.unlock();
}

void in_child() {
  Process& all = process();
  for (const int descriptor : all.descriptors) ::close(descriptor);
  all.descriptors.clear();
  for (ForkGate::Member* member : all.members) member->forget_in_child();
  let_everybody_go_on();
}

Process& process() {
  static Process& process = [&]() -> Process& {
    auto& made = *new Process;
    pthread_atfork(&before_fork, &let_everybody_go_on, &in_child);
    return made;
  }();
  return process;
}

}  // namespace

ForkGate::Use::Use() {
  const std::lock_guard lock(process().gate);
  ++process().users;
}
ForkGate::Use::~Use() { --process().users; }

void ForkGate::join(Member& member) {
  const std::lock_guard lock(process().lists);
  process().members.push_back(&member);
}

void ForkGate::leave(Member& member) {
  const std::lock_guard lock(process().lists);
  std::erase(process().members, &member);
}

PrivateDescriptor::PrivateDescriptor(int descriptor) : descriptor_(descriptor) {
  if (descriptor < 0) return;
  const std::lock_guard lock(process().lists);
  process().descriptors.insert(descriptor);
}

PrivateDescriptor::~PrivateDescriptor() {
  if (descriptor_ < 0) return;
  {
    const std::lock_guard lock(process().lists);
    process().descriptors.erase(descriptor_);
  }
  ::close(descriptor_);
}

}  // namespace holdfast::sqlite
