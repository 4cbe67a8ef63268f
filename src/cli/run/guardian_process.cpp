#include "cli/run/guardian_process.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/set_timer.hpp"
#include "cli/run/descendants.hpp"
#include "cli/run/process_table.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

base::FileDescriptor child_events() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  return base::FileDescriptor(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// This process must be quicker than those that it ends, above all when all of them wake up together: after a suspend,
/// or in a control group that was frozen. It sleeps nearly always. Only a privileged user may do this.
void hurry() {
  const sched_param first{.sched_priority = ::sched_get_priority_min(SCHED_RR)};
  ::sched_setscheduler(0, SCHED_RR, &first);
}

void drain(const base::FileDescriptor& descriptor) {
  std::array<char, sizeof(signalfd_siginfo) * 4> buffer{};
  while (::read(descriptor.get(), buffer.data(), buffer.size()) > 0) {
  }
}

}  // namespace

GuardianProcess::GuardianProcess(pid_t tool, base::FileDescriptor link, SharedState& state, const Job& job,
                                 const Signals& signals)
    : tool_(tool),
      link_(std::move(link)),
      state_(state),
      job_(job),
      signals_(signals),
      times_(job.ttl, job.grace, job.max_hold) {
  // Whatever is sent to the job's group, or to every process called holdfast, is for the tool and the command.
  block_all_signals();
  ::prctl(PR_SET_NAME, "lock-guardian");
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  children_ = child_events();
  timer_ = base::FileDescriptor(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
}

void GuardianProcess::run() {
  Grant grant;
  if (!children_ || !timer_ || !wait_for_start(grant)) return;
  if (const std::string why = why_not_found(); !why.empty()) {
    // The tool has asked before; but this process has a few descriptors more than the tool had then.
    why.copy(ended_.not_started.data(), ended_.not_started.size() - 1);
  } else if (must_go() && !job_.survives_loss) {
    ended_.cause = cause();  // the tool was stopped just before it could start the command
  } else {
    start(grant);
    guard();
  }
  ::send(link_.get(), &ended_, sizeof(ended_), MSG_NOSIGNAL);
}

bool GuardianProcess::wait_for_start(Grant& grant) {
  Order order;
  if (!receive_order(link_.get(), order, lifeline_)) return false;
  grant = {.token = order.token, .holder = order.holder.data()};
  return order.kind == Order::Kind::start;
}

void GuardianProcess::start(const Grant& grant) {
  const pid_t guardian = ::getpid();
  command_ = ::fork();
  if (command_ == 0) {
    // One more safety net, for the command alone: the kernel ends it should guardian and tool be killed together.
    if (!job_.survives_loss) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!job_.on_terminal) ::setpgid(0, 0);
    signals_.restore();
    if (::getppid() == guardian) state_.exec_error = become(job_, grant);
    ::_exit(127);
  }
  if (command_ < 0) {
    ended_.exec_error = errno;
  } else if (!job_.on_terminal) {
    ::setpgid(command_, command_);  // whoever comes first, the child or this: a signal may be forwarded at once
  }
  hurry();  // the command must not inherit this
  leave_standard_streams();
}

void GuardianProcess::guard() {
  while (true) {
    reap();
    if (tool_gone_) {
      if (job_.survives_loss) return tell("the tool was killed; the command continues without the lock");
      phase_ = Phase::killing;
    }
    if (phase_ == Phase::running && command_ < 0) break;
    if (phase_ == Phase::terminating && !has_children_) return;
    watch_the_clock();
    if (phase_ == Phase::killing) return kill();
    wait_until(next_deadline());
  }
  if (ended_.exec_error == 0) ended_.exec_error = state_.exec_error;
  ended_.left_children = has_children_;
}

/// The command first, and its group: to find all others takes some milliseconds.
void GuardianProcess::kill() const {
  if (command_ > 0) {
    ::kill(command_, SIGKILL);
    if (!job_.on_terminal) ::kill(-command_, SIGKILL);
  }
  kill_descendants();
}

void GuardianProcess::wait_until(Instant deadline) {
  base::set_timer(timer_.get(), deadline);
  std::array<pollfd, 3> wanted_events{pollfd{.fd = link_.get(), .events = POLLIN, .revents = 0},
                                      pollfd{.fd = children_.get(), .events = POLLIN, .revents = 0},
                                      pollfd{.fd = timer_.get(), .events = POLLIN, .revents = 0}};
  ::poll(wanted_events.data(), wanted_events.size(), -1);
  drain(children_);
  drain(timer_);
  if (wanted_events[0].revents != 0) obey();
}

void GuardianProcess::obey() {
  Order order;
  if (!receive_order(link_.get(), order, lifeline_)) {
    tool_gone_ = true;
    return;
  }
  if (phase_ != Phase::running) return;
  if (order.kind == Order::Kind::forward) forward(order.signal);
  if (order.kind == Order::Kind::lost) {
    terminate(Ended::Cause::lock_lost, times_.kill_at_after_loss(base::BootClock::now(), state_.ends()));
  }
}

void GuardianProcess::reap() {
  while (true) {
    int status = 0;
    const pid_t changed = ::waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (changed == command_ && changed > 0) follow(status);
    if (changed > 0) continue;
    has_children_ = changed == 0;
    return;
  }
}

/// The shell waits for the tool, not for the command: it learns that the job stopped when the tool does. That the
/// command, not the terminal, decides is what makes programs work that tidy up the screen before they stop.
void GuardianProcess::follow(int status) {
  const bool tool_lives = ::getppid() == tool_;
  if (WIFSTOPPED(status)) {
    if (job_.on_terminal && tool_lives) ::kill(tool_, SIGSTOP);
  } else if (WIFCONTINUED(status)) {
    if (job_.on_terminal && tool_lives) ::kill(tool_, SIGCONT);
  } else {
    ended_.status = status;
    command_ = -1;
  }
}

void GuardianProcess::forward(int signal) const {
  if (command_ < 0) return;
  if (job_.on_terminal) {
    signal_descendants(signal);
  } else {
    ::kill(-command_, signal);
  }
}

void GuardianProcess::watch_the_clock() {
  if (job_.survives_loss) return;
  if (phase_ == Phase::running && must_go()) terminate(cause(), LossTimes::kill_at(state_.ends()));
  if (phase_ == Phase::terminating && base::BootClock::now() >= kill_at_) phase_ = Phase::killing;
}

bool GuardianProcess::must_go() const { return base::BootClock::now() >= times_.terminate_at(state_.ends()); }

Ended::Cause GuardianProcess::cause() const {
  return times_.max_hold_is_over(state_.ends()) ? Ended::Cause::max_hold_ended : Ended::Cause::lease_ended;
}

void GuardianProcess::terminate(Ended::Cause cause, Instant kill_at) {
  phase_ = Phase::terminating;
  ended_.cause = cause;
  kill_at_ = kill_at;
  signal_descendants(SIGTERM);
}

GuardianProcess::Instant GuardianProcess::next_deadline() const {
  if (job_.survives_loss) return Instant::max();
  return phase_ == Phase::running ? times_.terminate_at(state_.ends()) : kill_at_;
}

}  // namespace holdfast::cli
