#include "cli/run/job_flags.hpp"

#include "cli/exit_code.hpp"
#include "cli/run/nesting.hpp"
#include "cli/secrets.hpp"
#include "holdfast/duration.hpp"

namespace holdfast::cli {

using std::chrono::milliseconds;

namespace {

/// A shorter lease, or a shorter --max-hold, would leave no time to end a command before its end.
constexpr milliseconds shortest = std::chrono::seconds(1);

}  // namespace

void JobFlags::define(Parameters& parameters) {
  parameters.required("NAME", "the name of the lock or election: 1 to 512 bytes of UTF-8", name_);
  parameters.flag("--try", "do not wait; exit 75 at once if the lock is busy", try_);
  parameters.duration("--wait", "wait at most this long, then exit 75 (default: for ever)", wait_);
  parameters.exclusive("--try", "--wait");
  parameters.duration("--ttl", "the lease, which is renewed while CMD runs (default: 10s)", ttl_);
  parameters.duration("--min-hold", "hold the lock for at least this long, even if CMD is faster", min_hold_);
  parameters.duration("--max-hold", "hold the lock for at most this long, then end CMD and exit 79", max_hold_);
  parameters.choice("--on-lost", {"kill", "warn"}, "what to do with CMD when the lock is lost (default: kill)",
                    on_lost_);
  parameters.duration("--grace", "time between SIGTERM and SIGKILL, as far as the lease allows (default: 5s)", grace_);
  parameters.text("--reason", "TEXT", "why the lock is held; 'ls -l' and 'show' print it", reason_);
  parameters.number("--busy-exit", "the exit code to use instead of 75", 0, 255, busy_exit_);
  parameters.store(store_);
  parameters.command(command_);
}

Store JobFlags::store() const {
  Store store = choose_store(store_);
  if (store.url.starts_with("memory:")) {
    throw Error(Errc::bad_url,
                "a memory: store exists inside one process only, so it would exclude nobody; leave out --url and "
                "HOLDFAST_URL, or name a store that others can reach, such as sqlite:/path/locks.db");
  }
  return store;
}

milliseconds JobFlags::ttl() const {
  const milliseconds ttl = ttl_.value_or(LockOptions().ttl);
  if (ttl < shortest) {
    throw UsageError("--ttl must be at least 1s, because a shorter lease leaves no time to end a command");
  }
  return ttl;
}

LockOptions JobFlags::lock_options() const {
  if (max_hold_ && *max_hold_ < shortest) {
    throw UsageError("--max-hold must be at least 1s, because a shorter time is not enough to end a command");
  }
  LockOptions options = {.ttl = ttl(), .reason = reason_};
  // A command that has to go is ended before its time is over, and what it held is given back by hand.
  if (max_hold_ && survives_loss()) options.max_hold = *max_hold_;
  return options;
}

RunTerms JobFlags::terms() const {
  if (min_hold_ && max_hold_ && *min_hold_ > *max_hold_) {
    throw UsageError("--min-hold must not be longer than --max-hold");
  }
  RunTerms terms = {.min_hold = min_hold_.value_or(milliseconds::zero()),
                    .busy_exit = busy_exit_.value_or(exit_code::busy)};
  if (wait_) terms.patience = detail::saturated(*wait_);
  if (try_) terms.patience = std::chrono::nanoseconds::zero();
  return terms;
}

Job JobFlags::job(const Store& store) const {
  Job job = {.command = command_,
             .lock = name_,
             .url = without_password(store.url),
             .outer_holds = outer_holds(),
             .ttl = ttl(),
             .max_hold = max_hold_.value_or(milliseconds::zero()),
             .survives_loss = survives_loss(),
             .on_terminal = has_terminal()};
  if (grace_) job.grace = *grace_;
  return job;
}

}  // namespace holdfast::cli
