#include "backends/sqlite/fork_gate.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <set>
#include <vector>

namespace holdfast::sqlite {
namespace {

/// Never destroyed: a client in static storage may be closed after everything else.
struct Process {
  std::shared_mutex gate;
  std::mutex lists;  ///< guards the two below; taken after the gate
  std::vector<ForkGate::Member*> members;
  std::set<int> descriptors;
};

Process& process();

void before_fork() {
  Process& all = process();
  all.gate.lock();
  all.lists.lock();
  for (ForkGate::Member* member : all.members) member->close_before_fork();
}

void in_parent() {
  process().lists.unlock();
  process().gate.unlock();
}

void in_child() {
  Process& all = process();
  // Not unlocked: to a reader-writer lock the child's only thread is not the one that locked it.
  ::new (&all.gate) std::shared_mutex;
  ::new (&all.lists) std::mutex;
  for (const int descriptor : all.descriptors) ::close(descriptor);
  all.descriptors.clear();
  for (ForkGate::Member* member : all.members) member->forget_in_child();
}

Process& process() {
  static Process& process = [&]() -> Process& {
    auto& made = *new Process;
    pthread_atfork(&before_fork, &in_parent, &in_child);
    return made;
  }();
  return process;
}

}  // namespace

ForkGate::Use::Use() { process().gate.lock_shared(); }
ForkGate::Use::~Use() { process().gate.unlock_shared(); }

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
