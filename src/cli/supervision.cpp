#include "cli/supervision.hpp"

#include <poll.h>

#include <algorithm>
#include <array>

#include "cli/descendants.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

void refresh(Guardian& guardian, const Hold& hold) {
  const BootClock::time_point now = BootClock::now();  // before the question, so that the answer is never too long
  const std::chrono::nanoseconds remaining = hold.remaining();
  if (remaining > std::chrono::nanoseconds::zero()) guardian.set_remaining(now, remaining);
}

void pass_on(Guardian& guardian, const Job& job, const Signals& signals) {
  const Signals::Arrived arrived = signals.take();
  // What the terminal sends to the job's group, the command has got already.
  const bool has_it = job.on_terminal && arrived.from_terminal;
  if (arrived.signal != 0 && !has_it) guardian.forward(arrived.signal);
}

}  // namespace

std::optional<Ended> supervise(const Job& job, const Grant& grant, const Hold& hold, Guardian& guardian,
                               const Signals& signals) {
  // The lease is renewed every ttl / 3 and the guardian first acts at ttl / 4 before its end: this is often enough.
  const milliseconds pause = std::clamp<milliseconds>(job.ttl / 8, milliseconds(50), milliseconds(1000));
  // From now on the guardian decides when the tool stops.
  if (job.on_terminal) ignore_terminal_stops();
  refresh(guardian, hold);
  guardian.start(grant);
  leave_standard_streams();

  enum : std::size_t { ended, signalled, lost };
  std::array<pollfd, 3> wanted{pollfd{.fd = guardian.descriptor(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = hold.lost_fd(), .events = POLLIN, .revents = 0}};
  while (wanted[ended].revents == 0) {
    ::poll(wanted.data(), wanted.size(), static_cast<int>(pause.count()));
    refresh(guardian, hold);
    if (wanted[signalled].revents != 0) pass_on(guardian, job, signals);
    if (wanted[lost].revents != 0) {
      guardian.tell_lost();
      wanted[lost].fd = -1;  // once is enough; poll() skips it now
      wanted[lost].revents = 0;
    }
  }
  const std::optional<Ended> result = guardian.ended();
  if (!result) kill_descendants();
  return result;
}

}  // namespace holdfast::cli
