#include "cli/run/interruptible.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/file_descriptor.hpp"

namespace holdfast::cli {
namespace {

/// Waits for a signal beside a call that blocks, and triggers a stop_token when one comes.
class SignalWatch {
 public:
  explicit SignalWatch(const Signals& signals) : finished_(::eventfd(0, EFD_CLOEXEC)) {
    if (!finished_) throw std::system_error(errno, std::generic_category(), "cannot watch for signals");
    thread_ = std::jthread([this, &signals] { watch(signals); });
  }
  ~SignalWatch() { finish(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  std::stop_token token() const { return stop_.get_token(); }
  /// Ends the watch. Returns the signal that came; 0 if none did.
  int finish() {
    if (thread_.joinable()) {
      ::eventfd_write(finished_.get(), 1);
      thread_.join();
    }
    return signal_;
  }

 private:
  void watch(const Signals& signals) {
    std::array<pollfd, 2> wanted{pollfd{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = finished_.get(), .events = POLLIN, .revents = 0}};
    while (signal_ == 0 && wanted[1].revents == 0) {
      ::poll(wanted.data(), wanted.size(), -1);
      signal_ = signals.take().signal;
    }
    if (signal_ != 0) stop_.request_stop();
  }

  base::FileDescriptor finished_;
  std::stop_source stop_;
  int signal_ = 0;  ///< written by the thread, read after it was joined
  std::jthread thread_;
};

}  // namespace

Waited acquire_interruptibly(const Acquire& acquire, std::chrono::nanoseconds wait, const Signals& signals) {
  Waited waited;
  SignalWatch watch(signals);
  try {
    waited.acquired = acquire(wait, watch.token());
  } catch (const Error& error) {
    if (error.errc() != Errc::cancelled) throw;
  }
  waited.signal = watch.finish();
  if (waited.signal != 0 && waited.acquired.holding) waited.acquired.holding->release();
  return waited;
}

}  // namespace holdfast::cli
