#pragma once

#include <array>
#include <chrono>
#include <memory>

#include "cli/demo/host.hpp"
#include "cli/demo/timeline.hpp"
#include "cli/demo/verdict.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli::demo {

/// One act: starts hosts, does things to them, and shows and records all that happens. The hosts that are left are
/// killed when this ends. Whatever waits here throws Failure when a host fails, when it leaves without doing what is
/// waited for, or when nothing happens for too long; and Interrupted when a signal arrives.
///
/// REQUIRES: this process has one thread, as long as this exists. Not thread-safe.
class Stage {
 public:
  Stage(Timeline& timeline, const Signals& signals) : timeline_(timeline), signals_(signals) {}

  /// Each host at most once.
  void enter(HostId host, const HostProcess::Part& part);
  void cue(HostId host) { process(host).cue(); }
  void kill(HostId host) { take(process(host).kill()); }
  void stop(HostId host) { take(process(host).stop()); }
  void resume(HostId host) { take(process(host).resume()); }

  /// Waits until the host has done it; it may have done so before.
  void await(HostId host, Event::Kind kind);
  /// Lets time pass.
  void pause(std::chrono::milliseconds duration);
  /// Waits until all hosts have left.
  const std::vector<Event>& finish();

 private:
  using Instant = base::Instant;

  HostProcess& process(HostId host) { return *processes_[static_cast<std::size_t>(host)]; }
  bool happened(HostId host, Event::Kind kind) const { return find(record_, host, kind) != nullptr; }
  /// Takes what there is; waits for it until `deadline` at most. True if there was anything.
  bool watch(Instant deadline);
  void hear(HostId host);
  void take(const Event& event);

  Timeline& timeline_;
  const Signals& signals_;
  std::array<std::unique_ptr<HostProcess>, all_hosts.size()> processes_ = {};
  ActRecord record_;
};

}  // namespace holdfast::cli::demo
