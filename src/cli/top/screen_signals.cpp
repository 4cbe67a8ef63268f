#include "cli/top/screen_signals.hpp"

#include <pthread.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::cli {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace

ScreenSignals::ScreenSignals() {
  const sigset_t ours = set_of({SIGWINCH, SIGTSTP, SIGCONT});
  pthread_sigmask(SIG_BLOCK, &ours, &mask_before_);
  descriptor_ = base::FileDescriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_) throw std::system_error(errno, std::generic_category(), "cannot watch for signals");
}

ScreenSignals::~ScreenSignals() { pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr); }

int ScreenSignals::take() const {
  signalfd_siginfo info{};
  if (::read(descriptor_.get(), &info, sizeof(info)) != static_cast<ssize_t>(sizeof(info))) return 0;
  return static_cast<int>(info.ssi_signo);
}

void ScreenSignals::stop_job() {
  const sigset_t stop = set_of({SIGTSTP});
  ::kill(0, SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // here it stops
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace holdfast::cli
