#include <charconv>
#include <chrono>
#include <stop_token>
#include <utility>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/run/guarded_run.hpp"
#include "cli/run/job_flags.hpp"
#include "cli/run/nesting.hpp"
#include "cli/text/output.hpp"
#include "holdfast/semaphore.hpp"

namespace holdfast::cli {
namespace {

std::optional<std::uint32_t> to_count(std::string_view text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it is told the end
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  const bool good = error == std::errc() && rest == end && count >= 1 && count <= Semaphore::max_total;
  return good ? std::optional(count) : std::nullopt;
}

/// `K/N`
Permits parse_permits(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto count = to_count(text.substr(0, slash));
  const auto total = slash == std::string_view::npos ? std::nullopt : to_count(text.substr(slash + 1));
  if (!count || !total || *count > *total) {
    throw UsageError("--permits: " + in_quotes(text) + " is not K/N, such as 1/5 for one of five; K is at most N");
  }
  return {.count = *count, .total = *total};
}

class RunCommand : public Command {
 public:
  void define(Parameters& parameters) override {
    parameters.flag("--shared", "take a shared (read) lock, which excludes only exclusive ones", shared_);
    parameters.text("--permits", "K/N", "take K of the N permits of the semaphore NAME instead of a lock", permits_);
    parameters.duration("--once-per", "skip if a run that began in this time (less a tenth, at most 1m) succeeded",
                        period_);
    flags_.define(parameters);
    parameters.exclusive("--shared", "--permits");
    parameters.exclusive("--once-per", "--shared");
    parameters.exclusive("--once-per", "--permits");
  }

  int execute() override {
    const LockName name(flags_.name());
    const LockOptions options = flags_.lock_options();
    RunTerms terms = flags_.terms();
    const auto permits = permits_ ? std::optional(parse_permits(*permits_)) : std::nullopt;
    if (permits) terms.kind = LockKind::semaphore;
    if (period_ && *period_ <= std::chrono::milliseconds::zero()) throw UsageError("--once-per: must be longer than 0");
    const Store store = flags_.store();
    if (is_terminal(Stream::error)) tell_if_default(store);
    const Job job = flags_.job(store);
    return run_guarded(store, job, terms, [&](Client& client) {
      if (permits) return some_permits(client, name, *permits, options);
      if (period_) return unless_inside(client, job, run_of_job(client, name, *period_, options));
      return unless_inside(client, job,
                           shared_ ? shared_lock(client, name, options) : exclusive_lock(client, name, options));
    });
  }

 private:
  /// `acquire`, unless an ancestor of this process holds the lock already.
  Acquire unless_inside(Client& client, const Job& job, Acquire acquire) const {
    if (job.outer_holds.empty()) return acquire;
    return [this, &client, &job, acquire = std::move(acquire)](std::chrono::nanoseconds wait,
                                                               const std::stop_token& stop) -> Acquired {
      if (const auto outer = look_for_ancestors_hold(client, job.lock, job.outer_holds, stop)) {
        check_inside(*outer, job.lock);
        return {.outer = outer};
      }
      return acquire(wait, stop);
    };
  }

  void check_inside(const AncestorsHold& outer, const std::string& lock) const {
    const std::string inside = "this runs inside a 'holdfast run' that holds " + in_quotes(lock);
    if (outer.mode == ClaimMode::shared && !shared_) {
      throw UsageError(inside + " shared; to hold it alone it would have to wait for itself (--shared works)");
    }
    if (period_) throw UsageError(inside + ", where --once-per cannot work; give it to the outer one");
  }

  JobFlags flags_;
  bool shared_ = false;
  std::optional<std::string> permits_;
  std::optional<std::chrono::milliseconds> period_;
};

}  // namespace

const CommandEntry run_entry = {
    .name = "run",
    .summary = "Run a command while holding a lock",
    .details =
        "CMD gets HOLDFAST_LOCK, HOLDFAST_TOKEN, HOLDFAST_HOLDER and HOLDFAST_URL in its environment. If the lock\n"
        "is lost, CMD and all its descendants get SIGTERM and then SIGKILL before somebody else can acquire it.\n"
        "With --on-lost warn they continue, and exit code 79 says that the lock did not protect CMD to its end. If\n"
        "an operator breaks the lock, the next waiter gets it at once, and only then is CMD ended.\n"
        "Inside CMD, 'holdfast run' of the same lock does not wait.\n"
        "Exit code: CMD's own, or 128 + signal; 64 usage, 69 store unreachable, 70 internal error, 75 busy,\n"
        "77 access refused, 78 bad URL, 79 lock lost, 126 CMD cannot be executed, 127 CMD not found;\n"
        "0 with a line on standard error if --once-per skipped the run.\n"
        "Durations: 500ms, 10s, 5m, 1h30m, 1.5h, 1d, 1w.\n"
        "Examples:\n"
        "  holdfast run nightly-report -- ./report.sh --all\n"
        "  holdfast run backup --try --reason 'hourly backup' -- rsync -a /srv/ /backup/\n"
        "  holdfast run hourly-sms --once-per 1h -- ./send-sms\n"
        "  holdfast run renderer --permits 1/5 -- ./render scene.blend\n"
        "  holdfast run deploy --wait 5m --ttl 30s -u sqlite:/var/lib/app/locks.db -- make deploy",
    .make = []() -> std::unique_ptr<Command> { return std::make_unique<RunCommand>(); },
};

}  // namespace holdfast::cli
