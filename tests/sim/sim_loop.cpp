#include "sim/sim_loop.hpp"

#include <cstdlib>
#include <iostream>

namespace holdfast::sim {

namespace {

[[noreturn]] void refuse(const char* what) {
  std::cerr << "the simulation has no " << what << '\n';
  std::abort();
}

}  // namespace

void SimLoop::watch(int /*descriptor*/, Ready /*wanted*/, ReadyHandler /*handler*/) { refuse("descriptors"); }
void SimLoop::unwatch(int /*descriptor*/) { refuse("descriptors"); }

void SimLoop::run_blocking(base::Task work, base::Task done) {
  work();
  defer(std::move(done));
}

void SimLoop::run_due() {
  const Instant reading = now();
  while (timers_.next() <= reading) {
    spi::Timer& timer = timers_.top();
    disarm(timer);
    timer.fire();
    drain();
  }
}

void SimLoop::drain() {
  while (!deferred_.empty()) {
    running_.swap(deferred_);
    for (base::Task& task : running_) task();
    running_.clear();
  }
}

}  // namespace holdfast::sim
