#include "cli/run/supervision.hpp"

#include <poll.h>

#include <algorithm>
#include <array>

#include "cli/run/descendants.hpp"
#include "cli/text/output.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// Tells the guardian how long the lease lasts. Returns how long the tool may sleep before it must do so again: half of
/// the time that is left before the guardian acts on what it knows, so that it always hears of a renewal in time.
milliseconds refresh(Guardian& guardian, const Hold& hold, milliseconds ttl, LossTimes::Proof proof) {
  constexpr milliseconds shortest(10);
  constexpr milliseconds longest(1000);
  const milliseconds otherwise = std::clamp<milliseconds>(ttl / 16, shortest, longest);
  const base::Instant now = base::BootClock::now();  // before the question, so that the answer is never too long
  const std::chrono::nanoseconds remaining = hold.remaining();
  if (remaining <= std::chrono::nanoseconds::zero()) return otherwise;
  const auto left = std::chrono::floor<milliseconds>(guardian.set_remaining(now, remaining, proof) - now);
  return std::clamp(left / 2, shortest, otherwise);
}

void pass_on(const Signals::Arrived& arrived, Guardian& guardian, const Job& job) {
  // What the terminal sends to the job's group, the command has got already.
  const bool has_it = job.on_terminal && arrived.from_terminal;
  if (arrived.signal != 0 && !has_it) guardian.forward(arrived.signal);
}

void hear_of_loss(Guardian& guardian, const Job& job) {
  if (job.survives_loss) {
    tell("warning: " + in_quotes(job.lock) + " was lost; the command continues without it");
  } else {
    guardian.tell_lost();
  }
}

}  // namespace

Supervised supervise(const Job& job, const HoldTerms& terms, const Hold& hold, Guardian& guardian,
                     const Signals& signals) {
  // From now on the guardian decides when the tool stops.
  if (job.on_terminal) ignore_terminal_stops();
  milliseconds pause = refresh(guardian, hold, job.ttl, terms.proof);
  guardian.start(terms);
  leave_standard_streams();

  Supervised result;
  enum : std::size_t { ended, signalled, lost };
  std::array<pollfd, 3> wanted{pollfd{.fd = guardian.descriptor(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = hold.lost_fd(), .events = POLLIN, .revents = 0}};
  while (wanted[ended].revents == 0) {
    ::poll(wanted.data(), wanted.size(), static_cast<int>(pause.count()));
    pause = refresh(guardian, hold, job.ttl, terms.proof);
    if (wanted[signalled].revents != 0) {
      const Signals::Arrived arrived = signals.take();
      result.told_to_end = result.told_to_end || arrived.asks_to_end();
      pass_on(arrived, guardian, job);
    }
    if (wanted[lost].revents != 0) {
      hear_of_loss(guardian, job);
      wanted[lost].fd = -1;  // once is enough; poll() skips it now
      wanted[lost].revents = 0;
    }
    const auto overdue = job.survives_loss ? std::nullopt : guardian.overdue();
    if (overdue && wanted[ended].revents == 0) {
      kill_descendants();
      result.ended = Ended{.cause = *overdue};
      return result;
    }
  }
  result.ended = guardian.ended();
  if (!result.ended) kill_descendants();
  return result;
}

}  // namespace holdfast::cli
