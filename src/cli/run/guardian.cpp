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

Guardian::Guardian(const Job& job, const Signals& signals) : state_(map_shared_state()) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("cannot make a pair of sockets");
  link_ = FileDescriptor(ends[0]);
  FileDescriptor far_end(ends[1]);
  // Should the guardian be killed, the command becomes a child of the tool, which can then end it.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  const pid_t tool = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("cannot start the guardian process");
  if (pid_ == 0) {
    link_.reset();
    GuardianProcess(tool, std::move(far_end), *state_, job, signals).run();
    ::_exit(0);
  }
}

Guardian::~Guardian() {
  link_.reset();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::set_remaining(BootClock::time_point now, std::chrono::nanoseconds remaining) {
  const BootClock::rep until = (now.time_since_epoch() + remaining).count();
  state_->valid_until = std::max(until, state_->valid_until.load());
}

void Guardian::start(const Grant& grant, BootClock::time_point turn_ends) {
  state_->turn_until = turn_ends.time_since_epoch().count();
  Order order = {.kind = Order::Kind::start, .token = grant.token};
  grant.holder.copy(order.holder.data(), order.holder.size() - 1);
  send(order);
}

void Guardian::forward(int signal) { send({.kind = Order::Kind::forward, .signal = signal}); }

void Guardian::tell_lost() { send({.kind = Order::Kind::lost}); }

void Guardian::send(const Order& order) {
  // Fails only when the guardian is dead, which ended() tells.
  ::send(link_.get(), &order, sizeof(order), MSG_NOSIGNAL);
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
