// `run`: three processes. The tool takes the lock, keeps its lease and gives it back. Its child, the guardian, is
// forked before the tool has threads; it starts the command and ends it when the lock is lost, whatever state the tool
// is in.
#include <sys/wait.h>

#include <cstring>
#include <system_error>

#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/guardian.hpp"
#include "cli/interruptible.hpp"
#include "cli/job.hpp"
#include "cli/output.hpp"
#include "cli/secrets.hpp"
#include "cli/signals.hpp"
#include "cli/store.hpp"
#include "cli/supervision.hpp"
#include "cli/time_text.hpp"
#include "holdfast/client.hpp"
#include "holdfast/mutex.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// A shorter lease would leave no time to end a command between a failed renewal and its end.
constexpr milliseconds shortest_ttl = std::chrono::seconds(1);

/// What others see of the command: its name without folders. Not its arguments, which may hold secrets.
std::string name_of(const std::string& command) {
  constexpr std::size_t longest = 64;
  const std::size_t slash = command.rfind('/');
  return command.substr(slash == std::string::npos ? 0 : slash + 1).substr(0, longest);
}

std::string cause_of(const Ended& ended) {
  if (ended.cause == Ended::Cause::lock_lost) return "it was taken away";
  return "its lease could not be renewed in time (the store did not answer, or this process was stopped)";
}

class Run : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.required("NAME", "the lock: 1 to 512 bytes of UTF-8", name_);
    parameters.flag("--try", "do not wait: exit 75 at once if it is busy", try_);
    parameters.duration("--wait", "wait at most so long, then exit 75 (default: for ever)", wait_);
    parameters.exclusive("--try", "--wait");
    parameters.duration("--ttl", "the lease, kept alive while CMD runs (default: 10s)", ttl_);
    parameters.text("--reason", "TEXT", "why; shown by ls and show", reason_);
    parameters.store(store_);
    parameters.command(command_);
  }

  int execute() override {
    const LockName name(name_);
    const milliseconds ttl = ttl_.value_or(LockOptions().ttl);
    if (ttl < shortest_ttl) throw UsageError("--ttl: a lease of less than 1s is too short to run a command under");
    const Store store = choose_store(store_);
    if (is_terminal(Stream::error)) tell_if_default(store);

    const Signals signals;
    const Job job = {.command = command_,
                     .lock = name_,
                     .url = without_password(store.url),
                     .ttl = ttl,
                     .on_terminal = has_terminal()};
    Guardian guardian(job, signals);  // before the client: a process with threads cannot safely fork

    Client client = open_client(store, {.command = name_of(command_.front())});
    Mutex mutex(client, name, {.ttl = ttl, .reason = reason_});
    Waited waited = acquire_interruptibly(mutex, patience(), signals);
    if (waited.signal != 0) return interrupted(waited.signal);
    if (!waited.hold) return busy();
    const Grant grant = {.token = waited.hold->token().value(), .holder = client.identity().id};
    const auto ended = supervise(job, grant, *waited.hold, guardian, signals);
    return finish(ended, *waited.hold);
  }

 private:
  std::chrono::nanoseconds patience() const {
    if (try_) return std::chrono::nanoseconds::zero();
    return wait_ ? detail::saturated(*wait_) : std::chrono::nanoseconds::max();
  }

  int interrupted(int signal) const {
    tell("gave up waiting for " + in_quotes(name_) + " (" + ::strsignal(signal) + ")");
    return exit_code::signal_base + signal;
  }

  int busy() const {
    const std::string when = wait_ ? " was not free within " + human(*wait_) : " is held by somebody else";
    tell(in_quotes(name_) + when + "; 'holdfast show " + printable(name_) + "' says by whom");
    return exit_code::busy;
  }

  /// Gives the lock back and finds the exit code.
  int finish(const std::optional<Ended>& ended, Hold& hold) const {
    if (!ended) {
      release(hold);
      tell("the guardian process was killed, so the command and all its descendants were, too");
      return exit_code::internal;
    }
    if (ended->cause != Ended::Cause::by_itself) return lost(cause_of(*ended) + "; the command was stopped");
    if (!hold.valid()) return lost("nobody noticed before the command ended");
    if (ended->left_children) tell("the command left processes behind; they go on without the lock");
    if (!release(hold)) return lost("it was taken away before the command ended");
    if (ended->exec_error != 0) return not_executed(ended->exec_error);
    if (WIFSIGNALED(ended->status)) return exit_code::signal_base + WTERMSIG(ended->status);
    return WEXITSTATUS(ended->status);
  }

  int lost(const std::string& how) const {
    tell(in_quotes(name_) + " was lost: " + how);
    return exit_code::lost;
  }

  /// False if there was nothing to give back any more.
  bool release(Hold& hold) const {
    const auto left = std::chrono::duration_cast<milliseconds>(hold.remaining());
    const Released released = hold.release();
    if (released == Released::in_doubt) {
      tell("warning: the store did not confirm that " + in_quotes(name_) + " was given back; it is free in " +
           human(left) + " at the latest");
    }
    return released != Released::not_held;
  }

  int not_executed(int error) const {
    tell("cannot run " + in_quotes(command_.front()) + ": " + std::generic_category().message(error));
    return error == ENOENT ? exit_code::not_found : exit_code::cannot_execute;
  }

  std::string name_;
  bool try_ = false;
  std::optional<milliseconds> wait_;
  std::optional<milliseconds> ttl_;
  std::string reason_;
  StoreFlags store_;
  std::vector<std::string> command_;
};

}  // namespace

const CommandEntry run_entry = {
    .name = "run",
    .summary = "Run a command while holding a lock",
    .details =
        "CMD gets HOLDFAST_LOCK, HOLDFAST_TOKEN, HOLDFAST_HOLDER and HOLDFAST_URL in its environment. If the lock\n"
        "is lost, CMD and all its descendants get SIGTERM, then SIGKILL, before somebody else can have it.\n"
        "Exit code: CMD's own, or 128 + signal; 64 usage, 69 store unreachable, 70 internal error, 75 busy,\n"
        "77 access refused, 78 bad URL, 79 lock lost, 126 CMD cannot be executed, 127 CMD not found.\n"
        "Durations: 500ms, 10s, 5m, 1h, 1h30m.\n"
        "Examples:\n"
        "  holdfast run nightly-report -- ./report.sh --all\n"
        "  holdfast run backup --try --reason 'hourly backup' -- rsync -a /srv/ /backup/\n"
        "  holdfast run deploy --wait 5m --ttl 30s -u sqlite:/var/lib/app/locks.db -- make deploy",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<Run>(); },
};

}  // namespace holdfast::cli
