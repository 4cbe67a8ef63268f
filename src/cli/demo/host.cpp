#include "cli/demo/host.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "cli/demo/failure.hpp"
#include "holdfast/error.hpp"

namespace holdfast::cli::demo {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

void play(const HostProcess::Part& part, const HostLink& link) {
  try {
    part(link);
  } catch (const Error& error) {
    // That a lock was lost is no answer to the user: the story went wrong.
    const bool went_wrong = error.errc() == Errc::lost || error.errc() == Errc::not_held;
    link.tell_failure(error.what(), went_wrong ? exit_code::internal : exit_code_of(error.errc()));
  } catch (const std::exception& error) {
    link.tell_failure(error.what(), exit_code::internal);
  }
}

/// Waits for a change of the child that `options` ask for.
int wait_for(pid_t pid, int options) {
  int status = 0;
  while (::waitpid(pid, &status, options) < 0) {
    if (errno != EINTR) fail("cannot wait for a host");
  }
  return status;
}

}  // namespace

void HostLink::tell_acquired(Token token, std::chrono::milliseconds lease) const {
  Event event = event_now(host_, Event::Kind::acquired, token);
  event.lease_ms = lease.count();
  send(event);
}

void HostLink::tell_failure(std::string_view what, int code) const {
  Event event = event_now(host_, Event::Kind::failed);
  event.code = code;
  what.copy(event.text.data(), event.text.size() - 1);
  send(event);
}

void HostLink::send(const Event& event) const {
  // Fails only when the narrator is gone, and this process with it.
  ::send(link_.get(), &event, sizeof(event), MSG_NOSIGNAL);
}

void HostLink::await_cue() const {
  char cue = 0;
  while (::recv(link_.get(), &cue, sizeof(cue), 0) < 0 && errno == EINTR) {
  }
}

HostProcess::HostProcess(HostId host, const Part& part) : host_(host) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("cannot make a pair of sockets");
  link_ = base::FileDescriptor(ends[0]);
  base::FileDescriptor far_end(ends[1]);

  const pid_t narrator = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("cannot start a host");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != narrator) ::_exit(0);
  // The terminal's Ctrl-C and Ctrl-Z are for the narrator.
  ::setpgid(0, 0);
  link_ = {};
  play(part, HostLink(host, std::move(far_end)));
  ::_exit(0);  // everything else in this memory is the narrator's to clean up
}

HostProcess::~HostProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Event> HostProcess::receive() {
  Event event;
  ssize_t got = 0;
  // ECONNRESET only says that the host left without taking its cue; what it told before is still there.
  while ((got = ::recv(link_.get(), &event, sizeof(event), 0)) < 0 && (errno == EINTR || errno == ECONNRESET)) {
  }
  if (got == static_cast<ssize_t>(sizeof(event))) return event;
  if (pid_ > 0) {
    const int status = wait_for(std::exchange(pid_, -1), 0);
    if (status != 0)
      throw Failure(std::string(name_of(host_)) + " ended unexpectedly; somebody else may have ended it");
  }
  return std::nullopt;
}

void HostProcess::cue() {
  constexpr char go = 'g';
  ::send(link_.get(), &go, sizeof(go), MSG_NOSIGNAL);
}

Event HostProcess::signal(int signal, Event::Kind kind) {
  const Event event = event_now(host_, kind);
  if (pid_ < 0 || ::kill(pid_, signal) != 0) throw Failure(std::string(name_of(host_)) + " ended too early");
  return event;
}

Event HostProcess::kill() {
  const Event event = signal(SIGKILL, Event::Kind::killed);
  const int status = wait_for(std::exchange(pid_, -1), 0);
  if (!WIFSIGNALED(status)) throw Failure(std::string(name_of(host_)) + " ended before it could be killed");
  return event;
}

Event HostProcess::stop() {
  const Event event = signal(SIGSTOP, Event::Kind::stopped);
  if (WIFSTOPPED(wait_for(pid_, WUNTRACED))) return event;
  pid_ = -1;
  throw Failure(std::string(name_of(host_)) + " ended before it could be stopped");
}

Event HostProcess::resume() {
  const Event event = signal(SIGCONT, Event::Kind::resumed);
  if (WIFCONTINUED(wait_for(pid_, WCONTINUED))) return event;
  pid_ = -1;
  throw Failure(std::string(name_of(host_)) + " ended before it could go on");
}

}  // namespace holdfast::cli::demo
