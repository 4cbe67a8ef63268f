#include "cli/signals.hpp"

#include <pthread.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace holdfast::cli {
namespace {

constexpr std::array forwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

bool is_ignored(int signal) {
  struct sigaction current{};
  ::sigaction(signal, nullptr, &current);
  return current.sa_handler == SIG_IGN;
}

void set_handler(int signal, void (*handler)(int), struct sigaction* before) {
  struct sigaction wanted{};
  wanted.sa_handler = handler;
  ::sigaction(signal, &wanted, before);
}

}  // namespace

Signals::Signals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : forwarded) {
    if (!is_ignored(signal)) sigaddset(&ours, signal);
  }
  pthread_sigmask(SIG_BLOCK, &ours, &mask_before_);
  set_handler(SIGPIPE, SIG_IGN, &pipe_before_);
  set_handler(SIGCHLD, SIG_DFL, &child_before_);
  descriptor_ = base::FileDescriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) throw std::system_error(errno, std::generic_category(), "cannot watch for signals");
}

Signals::Arrived Signals::take() const {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) return {};
  return {.signal = static_cast<int>(info.ssi_signo), .from_terminal = info.ssi_code == SI_KERNEL};
}

void Signals::restore() const {
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

void ignore_terminal_stops() {
  for (const int signal : {SIGTSTP, SIGTTIN, SIGTTOU}) set_handler(signal, SIG_IGN, nullptr);
}

}  // namespace holdfast::cli
