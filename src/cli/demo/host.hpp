#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "base/file_descriptor.hpp"
#include "cli/demo/event.hpp"

namespace holdfast::cli::demo {

/// A host's own end of its link to the narrator.
class HostLink {
 public:
  HostLink(HostId host, base::FileDescriptor link) : host_(host), link_(std::move(link)) {}

  HostId host() const { return host_; }
  void tell(Event::Kind kind, Token token = {}) const { send(event_now(host_, kind, token)); }
  void tell_acquired(Token token, std::chrono::milliseconds lease) const;
  void tell_failure(std::string_view what, int code) const;
  /// Waits until the narrator lets it go on. A cue that was given before counts.
  void await_cue() const;

 private:
  void send(const Event& event) const;

  HostId host_;
  base::FileDescriptor link_;
};

/// A process that plays a host. It dies with the narrator's. Not thread-safe.
class HostProcess {
 public:
  /// What it does there, until it leaves.
  using Part = std::function<void(const HostLink&)>;

  /// Forks it. REQUIRES: this process has one thread.
  HostProcess(HostId host, const Part& part);
  /// Kills it if it is still there, in whatever state, and waits until it is gone.
  ~HostProcess();
  HostProcess(const HostProcess&) = delete;
  HostProcess& operator=(const HostProcess&) = delete;

  /// Readable when receive() has something to say.
  int descriptor() const { return link_.get(); }
  /// The next event; empty when the process is gone and has nothing left to tell. Blocks until either is there.
  std::optional<Event> receive();
  void cue();

  /// Each returns when it has happened, with the moment before it was asked for. Throws Failure if the process was gone
  /// already.
  Event kill();
  Event stop();
  Event resume();

 private:
  Event signal(int signal, Event::Kind kind);

  HostId host_;
  base::FileDescriptor link_;
  pid_t pid_ = -1;  ///< -1 once it was waited for
};

}  // namespace holdfast::cli::demo
