#include "cli/run/holding.hpp"

#include <optional>
#include <utility>

#include "cli/look/lock_text.hpp"
#include "cli/text/output.hpp"
#include "holdfast/election.hpp"
#include "holdfast/mutex.hpp"
#include "holdfast/once.hpp"
#include "holdfast/semaphore.hpp"
#include "holdfast/shared_mutex.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::nanoseconds;

/// A lock, or permits.
class HeldLock : public Holding {
 public:
  explicit HeldLock(Hold hold) : hold_(std::move(hold)) {}

  const Hold& hold() const override { return hold_; }
  Released release() override { return hold_.release(); }

 private:
  Hold hold_;
};

class RunUnderWay : public Holding {
 public:
  explicit RunUnderWay(Run run) : run_(std::move(run)) {}

  const Hold& hold() const override { return run_.hold(); }
  void note_success() override { run_.record_success(); }
  Released release() override { return run_.release(); }

 private:
  Run run_;
};

class Leadership : public Holding {
 public:
  explicit Leadership(std::shared_ptr<Election> election) : election_(std::move(election)), hold_(election_->hold()) {}

  const Hold& hold() const override { return *hold_; }
  Released release() override { return election_->resign(); }

 private:
  std::shared_ptr<Election> election_;
  std::shared_ptr<const Hold> hold_;
};

Acquired acquired(std::optional<Hold> hold) {
  if (!hold) return {};
  return {.holding = std::make_unique<HeldLock>(*std::move(hold))};
}

/// Why there is nothing to do. The details are worth one more question to the store, but no failure.
std::string done_already(Once& job) {
  try {
    const auto last = job.last_run();
    if (!last) return "it was tried a moment ago";
    return "it was done " + ago(last->started) + " on " + printable(last->host);
  } catch (const Error&) {
    return "it was done already";
  }
}

}  // namespace

Acquire exclusive_lock(Client& client, const LockName& name, const LockOptions& options) {
  return [mutex = std::make_shared<Mutex>(client, name, options)](nanoseconds wait, const std::stop_token& stop) {
    return acquired(mutex->try_acquire_for(wait, stop));
  };
}

Acquire shared_lock(Client& client, const LockName& name, const LockOptions& options) {
  return [mutex = std::make_shared<SharedMutex>(client, name, options)](nanoseconds wait, const std::stop_token& stop) {
    return acquired(mutex->try_acquire_shared_for(wait, stop));
  };
}

Acquire some_permits(Client& client, const LockName& name, Permits permits, const LockOptions& options) {
  auto semaphore = std::make_shared<Semaphore>(client, name, permits.total, options);
  return [semaphore, count = permits.count](nanoseconds wait, const std::stop_token& stop) {
    return acquired(semaphore->try_acquire_for(wait, count, stop));
  };
}

Acquire run_of_job(Client& client, const LockName& name, std::chrono::milliseconds period, const LockOptions& options) {
  const OnceOptions once_options = {.at_most = options.max_hold, .lock = options};
  auto job = std::make_shared<Once>(client, name, period, once_options);
  return [job](nanoseconds wait, const std::stop_token& stop) -> Acquired {
    Attempt attempt = job->attempt_for(wait, stop);
    switch (attempt.outcome) {
      case Attempt::Outcome::begun: return {.holding = std::make_unique<RunUnderWay>(std::move(attempt.run))};
      case Attempt::Outcome::done: return {.needless = done_already(*job)};
      case Attempt::Outcome::busy: break;
    }
    return {};
  };
}

Acquire leadership(Client& client, const LockName& name, const std::string& value, const LockOptions& options) {
  auto election = std::make_shared<Election>(client, name, options);
  return [election, value](nanoseconds wait, const std::stop_token& stop) -> Acquired {
    if (!election->try_campaign_for(value, wait, stop)) return {};
    return {.holding = std::make_unique<Leadership>(election)};
  };
}

}  // namespace holdfast::cli
