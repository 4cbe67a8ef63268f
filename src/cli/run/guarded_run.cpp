#include "cli/run/guarded_run.hpp"

#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "cli/run/guardian.hpp"
#include "cli/run/interruptible.hpp"
#include "cli/run/process_table.hpp"
#include "cli/run/supervision.hpp"
#include "cli/run/wait_notice.hpp"
#include "cli/signals.hpp"
#include "cli/text/output.hpp"
#include "cli/text/time_text.hpp"

namespace holdfast::cli {
namespace {

using base::Instant;
using std::chrono::milliseconds;

/// What others see of the command: its name without folders. Not its arguments, which may hold secrets.
std::string name_of(const std::string& command) {
  constexpr std::size_t longest = 64;
  const std::size_t slash = command.rfind('/');
  return command.substr(slash == std::string::npos ? 0 : slash + 1).substr(0, longest);
}

int code_of(int status) {
  return WIFSIGNALED(status) ? exit_code::signal_base + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Keeps what is held until then, or until a signal says that it is enough.
void stay_until(Instant end, const Hold& hold, const Signals& signals) {
  std::array<pollfd, 2> wanted{pollfd{.fd = signals.descriptor(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = hold.lost_fd(), .events = POLLIN, .revents = 0}};
  while (hold.valid()) {
    const auto left = std::chrono::ceil<milliseconds>(end - base::BootClock::now());
    if (left <= milliseconds::zero()) return;
    constexpr milliseconds longest = std::chrono::hours(1);
    ::poll(wanted.data(), wanted.size(), static_cast<int>(std::min(left, longest).count()));
    if (signals.take().asks_to_end()) return;
  }
}

/// What endangers the lock although nothing has happened yet. What does happen is told when it is dealt with.
void tell_warnings(LogLevel level, std::string_view text) {
  if (level == LogLevel::warning) tell("warning: " + printable(text));
}

/// Whatever goes wrong in the tool, the command has ended before what it ran under is given back.
class CommandEndsFirst {
 public:
  explicit CommandEndsFirst(Guardian& guardian) : guardian_(guardian) {}
  ~CommandEndsFirst() { guardian_.leave(); }
  CommandEndsFirst(const CommandEndsFirst&) = delete;
  CommandEndsFirst& operator=(const CommandEndsFirst&) = delete;

 private:
  Guardian& guardian_;
};

class GuardedRun {
 public:
  GuardedRun(const Job& job, const RunTerms& terms) : job_(job), terms_(terms) {}

  int run(const Store& store, const std::function<Acquire(Client&)>& acquire_through) {
    if (const std::string why = why_not_found(); !why.empty()) {
      tell(why);
      return exit_code::configuration;
    }
    Guardian guardian(job_, signals_);  // before the client: a process with threads cannot safely fork
    Client client = open_client(store, {.command = name_of(job_.command.front()), .log = tell_warnings});
    const Waited waited = wait_for(acquire_through(client), client);
    const Instant since = base::BootClock::now();
    if (waited.signal != 0) return interrupted(waited.signal);
    if (waited.acquired.outer) return run_inside(waited.acquired.outer->grant, guardian, client);
    if (!waited.acquired.needless.empty()) return skipped(waited.acquired.needless);
    if (!waited.acquired.holding) return busy();

    Holding& holding = *waited.acquired.holding;
    tell_if_longer(holding.hold().lease());
    HoldTerms terms = {.grant = {.token = holding.hold().token().value(), .holder = client.identity().id}};
    if (job_.max_hold > milliseconds::zero()) terms.ends = since + job_.max_hold;
    if (client.traits().proves_lease_late) terms.proof = LossTimes::Proof::late;
    if (!job_.survives_loss) terms.lifeline = client.lifeline();
    const CommandEndsFirst command_ends_first(guardian);
    const Supervised supervised = supervise(job_, terms, holding.hold(), guardian, signals_);
    return finish(supervised.ended, holding, supervised.told_to_end ? since : since + terms_.min_hold);
  }

 private:
  Waited wait_for(const Acquire& acquire, Client& client) const {
    std::optional<WaitNotice> notice;
    if (is_terminal(Stream::error)) notice.emplace(client, LockName(job_.lock), terms_.kind);
    return acquire_interruptibly(acquire, terms_.patience, signals_);
  }

  /// The lock is held around this process already. Whoever holds it also ends this process, as one of its descendants,
  /// when it is lost: so the command takes the tool's place.
  int run_inside(const Grant& grant, Guardian& guardian, Client& client) const {
    client.close();
    guardian.leave();
    signals_.restore();
    return not_executed(job_, become(job_, grant));
  }

  /// Others wait for so long if this host dies.
  void tell_if_longer(milliseconds lease) const {
    if (lease <= job_.ttl) return;
    tell("the lease of " + in_quotes(job_.lock) + " is " + human(lease) + ", because the store does not grant one of " +
         human(job_.ttl));
  }

  int interrupted(int signal) const {
    tell("gave up waiting for " + in_quotes(job_.lock) + " (" + ::strsignal(signal) + ")");
    return exit_code::signal_base + signal;
  }

  int skipped(const std::string& why) const {
    tell("skipped " + in_quotes(job_.lock) + ": " + why);
    return exit_code::ok;
  }

  int busy() const {
    const bool waited = terms_.patience > std::chrono::nanoseconds::zero();
    const auto patience = std::chrono::duration_cast<milliseconds>(terms_.patience);
    const std::string when = waited ? " was still held after " + human(patience) : " is held by somebody else";
    tell(in_quotes(job_.lock) + when + "; run 'holdfast show " + printable(job_.lock) + "' to see by whom");
    return terms_.busy_exit;
  }

  /// Gives back what is held, at `earliest` if the command ran, and finds the exit code.
  int finish(const std::optional<Ended>& ended, Holding& holding, Instant earliest) const {
    if (!ended) {
      release(holding);
      tell("the guardian process was killed, so the command and all its descendants were killed, too");
      return exit_code::internal;
    }
    if (const std::string_view why = ended->not_started.data(); !why.empty()) {
      release(holding);
      tell(why);
      return exit_code::configuration;
    }
    if (ended->cause != Ended::Cause::by_itself) {
      if (ended->cause == Ended::Cause::max_hold_ended) release(holding);
      return lost(cause_of(*ended) + "; the command was stopped");
    }
    if (ended->left_children) tell("the command left processes behind; they continue without the lock");
    if (ended->exec_error != 0) {
      release(holding);
      return not_executed(job_, ended->exec_error);
    }
    return finish_command(code_of(ended->status), holding, earliest);
  }

  int finish_command(int code, Holding& holding, Instant earliest) const {
    if (!holding.hold().valid()) return without_lock(code);
    const bool noted = code != exit_code::ok || note_success(holding);
    stay_until(earliest, holding.hold(), signals_);
    const bool kept = release(holding);
    if (!noted) return exit_code::unavailable;
    return kept ? code : without_lock(code);
  }

  static bool note_success(Holding& holding) {
    try {
      holding.note_success();
      return true;
    } catch (const Error& error) {
      tell("the command was successful, but its success could not be recorded, so it may be run again: " +
           printable(error.what()));
      return false;
    }
  }

  std::string cause_of(const Ended& ended) const {
    switch (ended.cause) {
      case Ended::Cause::lock_lost: return "it was taken away";
      case Ended::Cause::max_hold_ended:
        return "it was held for " + human(job_.max_hold) + ", as long as --max-hold allows";
      case Ended::Cause::lease_ended:
      case Ended::Cause::by_itself: break;
    }
    return "its lease could not be renewed in time (the store did not answer, or this process was stopped)";
  }

  int lost(const std::string& how) const {
    tell(in_quotes(job_.lock) + " was lost: " + how);
    return exit_code::lost;
  }

  /// The command has run to its end, but not under the lock. Its own failure says more than that.
  int without_lock(int code) const {
    const int lost_code = lost("the command ended without it");
    return job_.survives_loss && code != exit_code::ok ? code : lost_code;
  }

  /// False if there was nothing to give back any more.
  bool release(Holding& holding) const {
    const auto left = std::chrono::duration_cast<milliseconds>(holding.hold().remaining());
    const Released released = holding.release();
    if (released == Released::in_doubt) {
      tell("warning: the store did not confirm that " + in_quotes(job_.lock) + " was released; it is free in " +
           human(left) +
           " at the latest. The lease was valid to the end, but a 'holdfast break' may have gone unnoticed");
    }
    return released != Released::not_held;
  }

  const Job& job_;
  const RunTerms& terms_;
  const Signals signals_;
};

}  // namespace

int run_guarded(const Store& store, const Job& job, const RunTerms& terms,
                const std::function<Acquire(Client&)>& acquire_through) {
  return GuardedRun(job, terms).run(store, acquire_through);
}

int not_executed(const Job& job, int error) {
  tell("cannot run " + in_quotes(job.command.front()) + ": " + std::generic_category().message(error));
  return error == ENOENT ? exit_code::not_found : exit_code::cannot_execute;
}

}  // namespace holdfast::cli
