#include "cli/run/guardian.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>

#include "cli/run/guardian_process.hpp"

namespace holdfast::cli {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

SharedState* map_shared_state() {
  void* const memory = ::mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("cannot share memory with the guardian process");
  return new (memory) SharedState;
}

}  // namespace

void Guardian::Unmap::operator()(SharedState* state) const { ::munmap(state, sizeof(SharedState)); }

Guardian::Guardian(const Job& job, const Signals& signals)
    : times_(job.ttl, job.grace, job.max_hold), renewal_(job.ttl / 64), state_(map_shared_state()) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("cannot make a pair of sockets");
  link_ = base::FileDescriptor(ends[0]);
  base::FileDescriptor far_end(ends[1]);
  const pid_t tool = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("cannot start the guardian process");
  if (pid_ == 0) {
    link_ = {};
    GuardianProcess(tool, std::move(far_end), *state_, job, signals).run();
    ::_exit(0);
  }
}

void Guardian::leave() {
  link_ = {};
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Instant Guardian::set_remaining(base::Instant now, std::chrono::nanoseconds remaining, LossTimes::Proof proof) {
  const base::BootClock::rep known = state_->valid_until;
  const base::BootClock::rep until = (now.time_since_epoch() + remaining).count();
  if (until > known) state_->valid_until = until;
  // The same V looks a little different each time, because time passes between the two clocks that are read.
  if (until - known > renewal_.count()) state_->notice_at = until - times_.lease_notice(remaining, proof).count();
  return base::Instant(base::Duration(state_->notice_at));
}

// Sending fails only when the guardian is dead, which ended() tells.

void Guardian::start(const HoldTerms& terms) {
  // Should the guardian be killed, the command becomes a child of the tool, which can then end it. Not before: a tool
  // that has nothing to guard becomes the command itself, which would inherit this.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  state_->max_hold_until = terms.ends.time_since_epoch().count();
  Order order = {.kind = Order::Kind::start, .token = terms.grant.token};
  terms.grant.holder.copy(order.holder.data(), order.holder.size() - 1);
  send_order(link_.get(), order, terms.lifeline);
}

void Guardian::forward(int signal) { send_order(link_.get(), {.kind = Order::Kind::forward, .signal = signal}); }

void Guardian::tell_lost() {
  kill_at_after_loss_ = times_.kill_at_after_loss(base::BootClock::now(), state_->ends());
  send_order(link_.get(), {.kind = Order::Kind::lost});
}

std::optional<Ended::Cause> Guardian::overdue() const {
  const LossTimes::Ends ends = state_->ends();
  const base::Instant now = base::BootClock::now();
  if (kill_at_after_loss_ && now >= LossTimes::overdue_at(*kill_at_after_loss_)) return Ended::Cause::lock_lost;
  if (now < LossTimes::overdue_at(LossTimes::kill_at(ends))) return std::nullopt;
  return times_.max_hold_is_over(ends) ? Ended::Cause::max_hold_ended : Ended::Cause::lease_ended;
}

std::optional<Ended> Guardian::ended() {
  Ended message;
  ssize_t got = 0;
  while ((got = ::recv(link_.get(), &message, sizeof(message), 0)) < 0 && errno == EINTR) {
  }
  if (got != static_cast<ssize_t>(sizeof(message))) return std::nullopt;
  return message;
}

}  // namespace holdfast::cli
